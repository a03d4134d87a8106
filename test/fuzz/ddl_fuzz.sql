-- ddl_fuzz.sql
--	  What ddl_fuzz compares: columns, sequences and rows, without what a default
--	  kind changes and documents: an identity column draws by its default.
--
-- test/fuzz/ddl_fuzz.sql

CREATE SCHEMA look;

CREATE VIEW look.owners AS
  SELECT d.objid AS sequence, d.refobjid AS relation, d.refobjsubid AS column_number, d.deptype,
         substring(l.label FROM 'identity=(always|by_default)') AS identity
    FROM pg_depend d
    JOIN pg_class s
      ON s.oid = d.objid
     AND s.relkind = 'S'
    LEFT JOIN pg_seclabel l
      ON l.objoid = s.oid
     AND l.classoid = 'pg_class'::regclass
   WHERE d.classid = 'pg_class'::regclass
     AND d.refclassid = 'pg_class'::regclass
     AND d.deptype IN ('a', 'i');

-- Of an identity, a plain database has the sequence that it depends on.
CREATE VIEW look.columns AS
  SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull,
         CASE a.attidentity
           WHEN 'a' THEN 'always'
           WHEN 'd' THEN 'by_default'
           ELSE o.identity
         END AS identity,
         a.atthasdef AND o.identity IS NULL AS has_default
    FROM pg_class c
    JOIN pg_attribute a
      ON a.attrelid = c.oid
     AND a.attnum > 0
     AND NOT a.attisdropped
    LEFT JOIN look.owners o
      ON o.relation = c.oid
     AND o.column_number = a.attnum
     AND o.identity IS NOT NULL
   WHERE c.relnamespace = 'f'::regnamespace
     AND c.relkind IN ('r', 'p');

CREATE VIEW look.sequences AS
  SELECT c.relname, format_type(s.seqtypid, NULL) AS type, s.seqstart, s.seqincrement, s.seqmin,
         s.seqmax, s.seqcache, s.seqcycle, o.relation::regclass AS owner, a.attname,
         o.deptype = 'i' OR o.identity IS NOT NULL AS is_identity
    FROM pg_class c
    JOIN pg_sequence s ON s.seqrelid = c.oid
    LEFT JOIN look.owners o ON o.sequence = c.oid
    LEFT JOIN pg_attribute a
      ON a.attrelid = o.relation
     AND a.attnum = o.column_number
   WHERE c.relnamespace = 'f'::regnamespace;

-- Ids differ, and how many there are does not.
CREATE FUNCTION look.rows(relation regclass, OUT counts text)
LANGUAGE plpgsql
AS $$
BEGIN
  EXECUTE format('SELECT count(*) || '' rows, '' || count(DISTINCT t::text) FROM %s t', relation)
     INTO counts;
END
$$;

CREATE VIEW look.state AS
  SELECT 'column ' || c::text AS line FROM look.columns c
   UNION ALL
  SELECT 'sequence ' || s::text FROM look.sequences s
   UNION ALL
  SELECT 'table ' || c.relname || ' ' || look.rows(c.oid)
    FROM pg_class c
   WHERE c.relnamespace = 'f'::regnamespace
     AND c.relkind IN ('r', 'p')
   ORDER BY 1;
