"""psycopg2: execute_values() and lastval()."""

import psycopg2
from psycopg2.extras import execute_values

with psycopg2.connect("") as connection, connection.cursor() as cursor:
    cursor.execute("CREATE TABLE author (id bigserial PRIMARY KEY, name text UNIQUE)")
connection.close()

with psycopg2.connect("") as connection, connection.cursor() as cursor:
    cursor.execute("INSERT INTO author (name) VALUES ('one')")
    cursor.execute("SELECT lastval()")
    objects = [(cursor.fetchone()[0], "one")]
    names = [(f"many {i}",) for i in range(10)]
    ids = execute_values(cursor, "INSERT INTO author (name) VALUES %s RETURNING id", names, fetch=True)
    objects += [(id, name) for (id,), (name,) in zip(ids, names)]

version = psycopg2.__version__.split()[0]
print(f"= author psycopg2 {version} (bigserial; RETURNING and lastval)")
for id, name in objects:
    print(id, name, sep="\t")
