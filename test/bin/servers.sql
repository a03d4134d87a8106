-- The other servers, as the one that takes the statements knows them.
-- psql variables: "socket", "port" and "servers".

CREATE EXTENSION postgres_fdw;

SELECT format('CREATE SERVER server%s FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)',
              i, :'socket', :port + i, 'postgres'),
       format('CREATE USER MAPPING FOR CURRENT_USER SERVER server%s', i)
  FROM unnest(string_to_array(:'servers', ' ')::integer[]) i
\gexec
