"""Django: migrations that make, widen and rename, inspectdb, sqlsequencereset."""

import io
import os
import re
import sys
import tempfile

import django
from django.conf import settings
from django.core.management import call_command

FILES = {
    "__init__": "",
    "models": """
from django.db import models

class Writer(models.Model):
    name = models.TextField(unique=True)

class Book(models.Model):
    name = models.TextField(unique=True)
""",
    "migrations/__init__": "",
    "migrations/0001_author": """
from django.db import migrations, models

class Migration(migrations.Migration):
    operations = [
        migrations.CreateModel("Author", [
            ("id", models.AutoField(verbose_name="ID", auto_created=True, primary_key=True, serialize=False)),
            ("title", models.TextField(unique=True)),
        ]),
    ]
""",
    "migrations/0002_book": """
from django.db import migrations, models

class Migration(migrations.Migration):
    dependencies = [("library", "0001_author")]
    operations = [
        migrations.AlterField(
            "Author",
            "id",
            models.BigAutoField(verbose_name="ID", auto_created=True, primary_key=True, serialize=False),
        ),
        migrations.CreateModel("Book", [
            ("id", models.BigAutoField(verbose_name="ID", auto_created=True, primary_key=True, serialize=False)),
            ("name", models.TextField(unique=True)),
        ]),
        migrations.RenameField("Author", "title", "name"),
        migrations.RenameModel("Author", "Writer"),
    ]
""",
}


def call(command, *args, **options):
    """Run a command of manage.py in a session of its own, and return what it prints."""
    output = io.StringIO()
    connections.close_all()
    call_command(command, *args, stdout=output, stderr=output, no_color=True, **options)
    connections.close_all()
    return output.getvalue()


def title(table, how):
    print(f"= {table} Django {django.get_version()} ({how})")


def report(table, how, objects):
    title(table, how)
    for each in objects:
        print(each.id, getattr(each, "name", None) or each.title, sep="\t")


directory = tempfile.TemporaryDirectory()
for name, text in FILES.items():
    os.makedirs(os.path.dirname(f"{directory.name}/library/{name}"), exist_ok=True)
    with open(f"{directory.name}/library/{name}.py", "w") as file:
        file.write(text)
sys.path.append(directory.name)
database = {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"]}
settings.configure(
    DATABASES={"default": database, "loaded": {**database, "NAME": database["NAME"] + "_loaded"}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=["library"],
)
django.setup()

from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor
from library.models import Book, Writer

call("migrate", "library", "0001_author")
state = MigrationExecutor(connection).loader.project_state(("library", "0001_author"))
Author = state.apps.get_model("library", "Author")
authors = [Author.objects.create(title="one")]
authors += Author.objects.bulk_create(Author(title=f"many {i}") for i in range(5))

call("migrate")
reset = call("sqlsequencereset", "library")
with connection.cursor() as cursor:
    cursor.execute(reset)
connection.close()
authors += Writer.objects.bulk_create(Writer(name=f"many {i}") for i in range(5, 10))
report("library_writer", "AutoField widened; sqlsequencereset", authors)
report("library_book", "BigAutoField; sqlsequencereset", [Book.objects.create(name=f"name {i}") for i in range(11)])

title("-", "makemigrations --check, inspectdb")
try:
    differences = call("makemigrations", check=True, dry_run=True)
except SystemExit:
    differences = "makemigrations would change the models"
found = call("inspectdb", "library_writer", "library_book")
if len(re.findall(r"^    id = models.BigAutoField\(primary_key=True\)$", found, re.M)) != 2:
    differences = found
print("!" + ("no difference" if "No changes" in differences else " ".join(differences.split())))

call("migrate", database="loaded")
report("library_writer@loaded", "migrate of an empty database",
       [Writer.objects.using("loaded").create(name=f"name {i}") for i in range(11)])
