"""A runner for Django's own tests that records the outcome of each.

test/suites/django_runner.py
"""
import os
import unittest

from django.test.runner import DiscoverRunner

outcomes = open(os.environ["SUITE_OUTCOMES"], "w", buffering=1)


def record(outcome, test, error=None):
    text = ""
    if error:
        text = f"{error[0].__name__}: {error[1]}".split("\n")[0].replace("\t", " ")
    print(outcome, test.id(), text, sep="\t", file=outcomes)


class Result(unittest.TextTestResult):
    def addSuccess(self, test):
        super().addSuccess(test)
        record("ok", test)

    def addError(self, test, err):
        super().addError(test, err)
        record("failed", test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        record("failed", test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            record("failed", test, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        record("skipped", test)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        record("ok", test)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        record("failed", test)


class Runner(DiscoverRunner):
    def get_resultclass(self):
        return Result
