"""Print the outcomes of a file in JUnit's format.

test/suites/read_junit.py
"""
import sys
import xml.etree.ElementTree

for case in xml.etree.ElementTree.parse(sys.argv[1]).iter("testcase"):
    outcome, text = "ok", ""
    for child in case:
        if child.tag in ("failure", "error"):
            outcome, text = "failed", child.get("message", "")
        elif child.tag == "skipped":
            outcome = "skipped"
    name = case.get("classname") + "." + case.get("name")
    print(outcome, name, text.split("\n")[0].replace("\t", " "), sep="\t")
