"""peewee: create_tables(), create() and bulk_create()."""

import os

import peewee

database = peewee.PostgresqlDatabase(os.environ["PGDATABASE"])


class Author(peewee.Model):
    id = peewee.BigAutoField()
    name = peewee.TextField(unique=True)

    class Meta:
        database = database


database.create_tables([Author])
database.close()

one = Author.create(name="one")
many = [Author(name=f"many {i}") for i in range(10)]
Author.bulk_create(many)

print(f"= author peewee {peewee.__version__} (bigserial; RETURNING)")
for author in [one, *many]:
    print(author.id, author.name, sep="\t")
