-- Children whose keys begin with their parent's: interleaving.
--
-- Spanner stores the rows of an interleaved table next to their parent.
-- PostgreSQL does not, but with such keys the children of one parent are in
-- one place, and a split by the first column keeps the family on one server.
-- Spanner says INTERLEAVE IN PARENT, PostgreSQL says REFERENCES.

CREATE SCHEMA example_child_tables;
SET search_path = example_child_tables;
SET spanner.default_sequence_kind = 'bit_reversed_positive';

CREATE TABLE singers (
  singer_id bigserial PRIMARY KEY,
  first_name varchar(1024),
  last_name varchar(1024)
);

CREATE TABLE albums (
  singer_id bigint REFERENCES singers ON DELETE CASCADE,
  album_id bigserial,
  album_title varchar,
  PRIMARY KEY (singer_id, album_id)
);

CREATE TABLE songs (
  singer_id bigint,
  album_id bigint,
  track_id int,
  song_name varchar,
  PRIMARY KEY (singer_id, album_id, track_id),
  FOREIGN KEY (singer_id, album_id) REFERENCES albums ON DELETE CASCADE
);

INSERT INTO singers (first_name, last_name)
SELECT 'Marc', left(md5(i::text), 8) FROM generate_series(1, 2000) i;
INSERT INTO albums (singer_id, album_title)
SELECT singer_id, 'Album ' || i FROM singers, generate_series(1, 5) i;
INSERT INTO songs (singer_id, album_id, track_id, song_name)
SELECT singer_id, album_id, i, 'Song ' || i FROM albums, generate_series(1, 4) i;

-- An interleaved index: searched within one singer.
CREATE INDEX songs_by_singer_name ON songs (singer_id, song_name);

-- What not to do: a key of its own for each child, so that they are all over
-- the key.  An index finds them, and each of them is somewhere else.
-- spanner.advise() finds: notice child_not_interleaved.
CREATE TABLE concerts (
  concert_id bigserial PRIMARY KEY,
  singer_id bigint NOT NULL REFERENCES singers ON DELETE CASCADE,
  venue text
);
ANALYZE;

-- All songs of a singer.
-- Reads 1 key range.
SELECT * FROM songs WHERE singer_id = spanner.bit_reverse(42, true);

-- A singer with the songs.
-- Reads 2 key ranges.
SELECT last_name, album_id, song_name
  FROM singers JOIN songs USING (singer_id)
 WHERE singer_id = spanner.bit_reverse(42, true)
 ORDER BY album_id, track_id;

-- Reads 1 key range.
SELECT album_id, track_id FROM songs
 WHERE singer_id = spanner.bit_reverse(42, true) AND song_name = 'Song 3';
