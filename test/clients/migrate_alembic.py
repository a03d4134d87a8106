"""Alembic: migrations that make, widen and rename, autogenerate for SQLAlchemy's models."""

import os

import alembic
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import BigInteger, Column, Identity, Integer, Text, create_engine, text
from sqlalchemy.orm import Session, declarative_base

Base = declarative_base()
VERSION = f"Alembic {alembic.__version__}, SQLAlchemy {sqlalchemy.__version__}"


class Writer(Base):
    __tablename__ = "writer"
    id = Column(BigInteger, primary_key=True)
    name = Column(Text, unique=True)


class Book(Base):
    __tablename__ = "book"
    id = Column(BigInteger, primary_key=True)
    name = Column(Text, unique=True)


class City(Base):
    __tablename__ = "city"
    id = Column(BigInteger, Identity(always=True), primary_key=True)
    name = Column(Text, unique=True)


def make_author(op):
    op.create_table("author", Column("id", Integer, primary_key=True), Column("title", Text, unique=True))


def add_tables(op):
    op.create_table("book", Column("id", BigInteger, primary_key=True), Column("name", Text, unique=True))
    op.create_table("city", Column("id", BigInteger, Identity(always=True), primary_key=True),
                    Column("name", Text, unique=True))
    op.alter_column("author", "id", type_=BigInteger)
    op.alter_column("author", "title", new_column_name="name")
    op.rename_table("author", "writer")


def migrate(function):
    with engine.begin() as connection:
        function(Operations(MigrationContext.configure(connection)))
    engine.dispose()


def store(model, names):
    with Session(engine) as session:
        objects = [model(name=name) for name in names]
        session.add_all(objects)
        session.flush()
        ids = [(each.id, each.name) for each in objects]
        session.commit()
    engine.dispose()
    return ids


def report(table, how, objects):
    print(f"= {table} {VERSION} ({how})")
    for id, name in objects:
        print(id, name, sep="\t")


engine = create_engine("postgresql+psycopg2://")
migrate(make_author)
with engine.begin() as connection:
    insert = text("INSERT INTO author (title) VALUES (:name) RETURNING id, title")
    authors = [tuple(connection.execute(insert, {"name": f"name {i}"}).one()) for i in range(10, 16)]
engine.dispose()
migrate(add_tables)
for model in Base.__subclasses__():
    with engine.begin() as connection:
        table = model.__tablename__
        connection.execute(text(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}"))
    engine.dispose()
authors += store(Writer, [f"name {i}" for i in range(5)])
report("writer", "integer widened; setval", authors)
for model, ddl in (Book, "bigserial"), (City, "Identity"):
    report(model.__tablename__, f"{ddl}; setval", store(model, [f"name {i}" for i in range(11)]))

with engine.connect() as connection:
    context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
    differences = compare_metadata(context, Base.metadata)
for ddl, mark, found in (
    ("bigserial", "", [each for each in differences if "'city'" not in repr(each)]),
    ("Identity", "known", [" ".join(change[0][:1] + change[0][2:4]) for change in differences if "'city'" in repr(change)]),
):
    print(f"={mark} - {VERSION} (autogenerate, {ddl})")
    print("!" + (repr(found)[1:-1] or "no difference"))
