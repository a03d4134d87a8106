"""pgbouncer, pooling transactions: two clients share one connection to the server.

A SET that is meant for more than its transaction does not belong here: it stays
with the connection to the server, for whoever gets that next.  SET LOCAL is safe.
"""

import os
import subprocess
import tempfile
import time

import psycopg2

CONFIG = """
[databases]
{PGDATABASE} = host={PGHOST} port={PGPORT} user={PGUSER}
[pgbouncer]
listen_addr =
unix_socket_dir = {directory}
auth_type = any
pool_mode = transaction
default_pool_size = 1
"""


def connect(directory):
    for attempt in range(50):
        try:
            return psycopg2.connect(host=directory, port=6432)
        except psycopg2.OperationalError:
            time.sleep(0.1)
    return psycopg2.connect(host=directory, port=6432)


def use(clients, table, how):
    objects = []
    for i in range(11):
        with clients[i % 2] as connection, connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO {table} (name) VALUES (%s) RETURNING id, name", (f"name {i}",))
            objects += cursor.fetchall()
    print(f"= {table} pgbouncer {version}, psycopg2 ({how})")
    for id, name in objects:
        print(id, name, sep="\t")


version = subprocess.check_output(["/usr/sbin/pgbouncer", "--version"], text=True).split()[1]
with tempfile.TemporaryDirectory() as directory:
    with open(f"{directory}/pgbouncer.ini", "w") as config:
        config.write(CONFIG.format(directory=directory, **os.environ))
    server = subprocess.Popen(["/usr/sbin/pgbouncer", "-q", config.name])
    try:
        clients = [connect(directory), connect(directory)]
        with clients[0] as connection, connection.cursor() as cursor:
            cursor.execute("CREATE TABLE author (id bigserial PRIMARY KEY, name text UNIQUE)")
        with clients[1] as connection, connection.cursor() as cursor:
            cursor.execute("SET LOCAL spanner.default_sequence_kind = 'striped(stripes=4)'")
            cursor.execute("CREATE TABLE book (id bigserial PRIMARY KEY, name text UNIQUE)")
        use(clients, "author", "bigserial; RETURNING")
        use(clients, "book", "SET LOCAL, bigserial; RETURNING")
        for client in clients:
            client.close()
    finally:
        server.terminate()
        server.wait()
