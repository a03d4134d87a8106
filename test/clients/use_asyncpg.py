"""asyncpg: fetchval() and prepared statements."""

import asyncio

import asyncpg


async def main():
    connection = await asyncpg.connect()
    await connection.execute("CREATE TABLE author (id bigserial PRIMARY KEY, name text UNIQUE)")
    await connection.close()

    connection = await asyncpg.connect()
    sql = "INSERT INTO author (name) VALUES ($1) RETURNING id"
    objects = [(await connection.fetchval(sql, "one"), "one")]
    sql = "INSERT INTO author (name) SELECT unnest($1::text[]) RETURNING id, name"
    objects += await connection.fetch(sql, [f"many {i}" for i in range(10)])
    await connection.close()

    print(f"= author asyncpg {asyncpg.__version__} (bigserial; RETURNING)")
    for id, name in objects:
        print(id, name, sep="\t")


asyncio.run(main())
