"""Django: a model, its table, save() and bulk_create()."""

import os

import django
from django.conf import settings

settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": os.environ["PGDATABASE"],
        }
    },
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()

from django.db import connection, models


class Author(models.Model):
    name = models.TextField(unique=True)

    class Meta:
        app_label = "library"
        db_table = "author"


with connection.schema_editor() as editor:
    editor.create_model(Author)
connection.close()

one = Author.objects.create(name="one")
many = Author.objects.bulk_create(Author(name=f"many {i}") for i in range(10))

ddl = "bigserial" if django.VERSION < (4, 1) else "identity"
print(f"= author Django {django.get_version()} ({ddl}; RETURNING)")
for author in [one, *many]:
    print(author.id, author.name, sep="\t")
