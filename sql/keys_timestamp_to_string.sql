--
-- Times as GoogleSQL casts them to strings
--
\pset null NULL
SET TimeZone = 'UTC';

-- published answers
SELECT spanner.timestamp_to_string('1978-02-14 01:48:23.673001+00', 'America/Los_Angeles'),
	spanner.timestamp_to_string('2008-12-25 15:30:00+00', 'America/Los_Angeles'),
	spanner.timestamp_to_string('2008-12-25 15:30:00+00');

-- the fraction has no, three or six digits
SELECT fraction, spanner.timestamp_to_string(('2024-01-02 03:04:05' || fraction || '+00')::timestamptz)
FROM unnest('{"",.1,.12,.123,.1234,.12345,.123456,.000001,.00001,.001,.999999}'::text[])
	WITH ORDINALITY AS f (fraction, n)
ORDER BY n;

-- minutes of the offset only if there are any; daylight saving time
SELECT zone, spanner.timestamp_to_string('2024-01-15 12:00:00+00', zone) AS january,
	spanner.timestamp_to_string('2024-07-15 12:00:00+00', zone) AS july
FROM unnest('{UTC,utc,GMT,Etc/GMT+5,America/Los_Angeles,america/los_angeles,America/St_Johns,Europe/Berlin,Asia/Kolkata,Asia/Kathmandu,Australia/Lord_Howe,Pacific/Kiritimati}'::text[])
	WITH ORDINALITY AS z (zone, n)
ORDER BY n;

-- offsets, east of UTC
SELECT zone, spanner.timestamp_to_string('2024-01-15 12:00:00+00', zone)
FROM unnest('{+00:00,-00:00,+0,-8,+5:30,-08:00,+05:45,-3:30,-00:30,+14:00,-14:00}'::text[])
	WITH ORDINALITY AS z (zone, n)
ORDER BY n;

-- around the change to daylight saving time, and before standard time
SELECT spanner.timestamp_to_string('2024-03-10 09:59:59.999999+00', 'America/Los_Angeles'),
	spanner.timestamp_to_string('2024-03-10 10:00:00+00', 'America/Los_Angeles');
SELECT spanner.timestamp_to_string('0001-01-01 00:00:00+00', 'America/Los_Angeles'),
	spanner.timestamp_to_string('1800-01-01 00:00:00.5+00', 'America/Los_Angeles');

-- before 1970 and before 2000, where seconds count down
SELECT spanner.timestamp_to_string('1969-12-31 23:59:59.999999+00'),
	spanner.timestamp_to_string('1999-12-31 23:59:59.000001+00', 'America/New_York'),
	spanner.timestamp_to_string('1999-04-04 09:59:59.5+00', 'America/Los_Angeles');

-- the ends of what Spanner stores, and beyond: years as in ISO 8601
SELECT value, spanner.timestamp_to_string(value::timestamptz)
FROM unnest('{0001-01-01 00:00:00+00,9999-12-31 23:59:59.999999+00,10000-01-01 00:00:00+00,294276-12-31 23:59:59.999999+00,0001-12-31 23:59:59.999+00 BC,0002-01-01 00:00:00+00 BC,4714-11-24 00:00:00+00 BC,infinity,-infinity}'::text[])
	WITH ORDINALITY AS v (value, n)
ORDER BY n;
SELECT spanner.timestamp_to_string('9999-12-31 23:59:59+00', '+14'),
	spanner.timestamp_to_string('294276-12-31 23:59:59.999999+00', 'Asia/Tokyo'),
	spanner.timestamp_to_string('infinity', 'Asia/Tokyo'),
	spanner.timestamp_to_string('-infinity', '-8');

-- NULL
SELECT spanner.timestamp_to_string(NULL), spanner.timestamp_to_string(now(), NULL);

-- settings of the session change nothing
CREATE TABLE moment (
	ts timestamptz,
	utc text GENERATED ALWAYS AS (spanner.timestamp_to_string(ts)) STORED,
	tokyo text GENERATED ALWAYS AS (spanner.timestamp_to_string(ts, time_zone => 'Asia/Tokyo')) STORED
);
INSERT INTO moment VALUES ('2024-05-06 07:08:09.25+00');
SET TimeZone = 'America/New_York';
SET DateStyle = 'German';
SET lc_time = 'C';
INSERT INTO moment VALUES ('2024-05-06 03:08:09.25');
SELECT utc, tokyo, count(*) FROM moment GROUP BY utc, tokyo;
SET TimeZone = 'UTC';
CREATE INDEX ON moment (spanner.timestamp_to_string(ts, 'Europe/Berlin'));
DROP TABLE moment;

-- the zone may differ from row to row
SELECT zone, spanner.timestamp_to_string('2024-01-15 12:00:00+00', zone)
FROM (VALUES (1, 'UTC'), (2, 'Asia/Tokyo'), (3, '-8'), (4, 'Asia/Tokyo'), (5, 'UTC')) AS z (n, zone)
ORDER BY n;

-- the same as the server prints, whole seconds in UTC
SET DateStyle = 'ISO, MDY';
SELECT count(*) AS wrong
FROM generate_series(0, 20000) AS n,
	 LATERAL (SELECT timestamptz '0001-01-01 00:00:00+00' + n * interval '182 days 7 hours 11 minutes 13 seconds') AS t (ts)
WHERE ts < '10000-01-01' AND spanner.timestamp_to_string(ts) <> ts::text;

-- unknown zones; a POSIX specification would turn the sign around
SELECT spanner.timestamp_to_string('2024-01-15 12:00:00+00', 'Mars/Phobos');
SELECT spanner.timestamp_to_string('2024-01-15 12:00:00+00', '');
SELECT spanner.timestamp_to_string('2024-01-15 12:00:00+00', 'UTC+3');
SELECT spanner.timestamp_to_string('2024-01-15 12:00:00+00', 'PST');
SELECT spanner.timestamp_to_string('2024-01-15 12:00:00+00', '+15');
SELECT spanner.timestamp_to_string('2024-01-15 12:00:00+00', '+14:01');
SELECT spanner.timestamp_to_string('2024-01-15 12:00:00+00', '+5:60');
SELECT spanner.timestamp_to_string('2024-01-15 12:00:00+00', '+123');
SELECT spanner.timestamp_to_string('2024-01-15 12:00:00+00', '+');
SELECT spanner.timestamp_to_string('2024-01-15 12:00:00+00', '5:30');

SELECT provolatile, proisstrict, proparallel
FROM pg_proc WHERE oid = 'spanner.timestamp_to_string(timestamptz, text)'::regprocedure;
