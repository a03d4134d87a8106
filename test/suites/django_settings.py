"""Settings for Django's own tests.

test/suites/django_settings.py
"""
import os

way = os.environ["SUITE_WAY"]


def database(name):
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": way,
        "HOST": os.environ["PGHOST"],
        "PORT": os.environ["PGPORT"],
        "TEST": {"NAME": "test_" + name, "TEMPLATE": "template_" + way},
    }


DATABASES = {"default": database(way), "other": database(way + "_other")}
TEST_RUNNER = "django_runner.Runner"
SECRET_KEY = "suites"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
