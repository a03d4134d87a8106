"""SQLAlchemy 1.4 and 2.0: models, their tables, and flushing many objects.

SQLAlchemy 2.0 inserts many objects with INSERT ... SELECT ... RETURNING, sorts
the ids that come back, and takes the n-th smallest for the id of the n-th
object.  The server sees to it that the ids ascend in this statement.  Below
are also the settings that make SQLAlchemy right where they do not.
"""

import warnings

import sqlalchemy
from sqlalchemy import BigInteger, Column, FetchedValue, Identity, Sequence, Text, create_engine, text
from sqlalchemy.orm import Session, declarative_base

warnings.simplefilter("ignore")
Base = declarative_base()
VERSION = sqlalchemy.__version__
PLAIN_DDL = "CREATE TABLE {} (id bigserial PRIMARY KEY, name text UNIQUE)"


def model(table, *default, server_default=None, **columns):
    """A mapped class, as the usual class statement would make it."""
    key = Column(BigInteger, *default, server_default=server_default, primary_key=True)
    columns.update(__tablename__=table, id=key, name=Column(Text, unique=True))
    return type(table, (Base,), columns)


def use(mark, cls, how, driver="psycopg2", ddl=None, **options):
    engine = create_engine(f"postgresql+{driver}://", **options)
    with engine.begin() as connection:
        if ddl:
            connection.execute(text(ddl.format(cls.__tablename__)))
        else:
            cls.__table__.create(connection)
    engine.dispose()

    with Session(engine, expire_on_commit=False) as session:
        one = cls(name="one")
        session.add(one)
        session.commit()
        many = [cls(name=f"many {i}") for i in range(10)]
        session.add_all(many)
        session.commit()
    engine.dispose()

    print(f"={mark} {cls.__tablename__} SQLAlchemy {VERSION}, {driver} ({how})")
    for each in [one, *many]:
        print(each.id, each.name, sep="\t")


if VERSION < "2":
    use("", model("author"), "bigserial; RETURNING")
    use("", model("book", Identity(always=True)), "Identity; RETURNING")
    use("", model("city", Sequence("city_id")), "Sequence; nextval")
else:
    from sqlalchemy import insert_sentinel

    for driver in ("psycopg2", "psycopg"):
        use("", model("a_" + driver), "bigserial; insertmanyvalues", driver)
        use("", model("b_" + driver), "bigserial; insertmanyvalues_page_size=1", driver, insertmanyvalues_page_size=1)
    use("", model("c"), "bigserial; use_insertmanyvalues=False", use_insertmanyvalues=False)
    use("", model("d", sentinel=insert_sentinel()), "bigserial; insert_sentinel() column")
    use("", model("e", server_default=FetchedValue()), "server_default=FetchedValue()", ddl=PLAIN_DDL)
    use("", model("f", Identity(always=True)), "Identity; insertmanyvalues")
    use("", model("g", Identity(always=True)), "Identity; use_insertmanyvalues=False", use_insertmanyvalues=False)
    use("", model("h", Identity(always=True), sentinel=insert_sentinel()), "Identity; insert_sentinel() column")
    use("", model("i", Sequence("i_id")), "Sequence; insertmanyvalues")
    use("", model("j", Sequence("j_id")), "Sequence; use_insertmanyvalues=False", use_insertmanyvalues=False)
    use("", model("k", Sequence("k_id"), sentinel=insert_sentinel()), "Sequence; insert_sentinel() column")
