"""The report as JUnit XML: ``report --format junit`` writes ``junit.xml``, which CI servers and their dashboards read.

A test suite is one hand-in, a test case one exercise. What ended with an error, or was cut off, is an error; what is not
answered is skipped; any other exercise without full marks is a failure.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from nbproof.report.report import Format

__all__ = ["FORMAT"]

_ERRORS = {"error", "timeout", "out of memory", "killed"}


def junit(report: Mapping[str, Any]) -> bytes:
    """The XML of a report, UTF-8. ``report``: as report.json holds it."""
    suites = defaultdict[tuple[str, str], list[Mapping[str, Any]]](list)
    for row in report["scores"]:
        suites[row["learner"], row["lesson"]].append(row)
    root = ElementTree.Element("testsuites", name=_shown(report["course"]))
    for (learner, lesson), rows in suites.items():
        _suite(root, learner, lesson, rows)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def _suite(root: ElementTree.Element, learner: str, lesson: str, rows: Sequence[Mapping[str, Any]]) -> None:
    kinds = [_kind(row) for row in rows]
    counts = {
        f"{kind}s" if kind != "skipped" else kind: str(kinds.count(kind)) for kind in ("failure", "error", "skipped")
    }
    suite = ElementTree.SubElement(
        root, "testsuite", name=_shown(f"{learner}/{lesson}"), tests=str(len(rows)), **counts
    )
    for row, kind in zip(rows, kinds, strict=True):
        name, time = _shown(row["id"]), f"{row['seconds'] or 0:.3f}"
        case = ElementTree.SubElement(suite, "testcase", name=name, classname=_shown(f"{lesson}.{learner}"), time=time)
        if kind:
            message = _shown(f"{row['status']}: {row['score']:g} of {row['max_score']:g} points")
            ElementTree.SubElement(case, kind, message=message)


def _kind(row: Mapping[str, Any]) -> str:
    """The element that says how an exercise ended; empty if it has full marks."""
    if row["status"] == "passed" or row["score"] == row["max_score"]:
        return ""
    if row["status"] in ("not answered", "uncertain"):
        return "skipped"
    return "error" if row["status"] in _ERRORS else "failure"


def _shown(text: str) -> str:
    """Without the characters that XML cannot hold."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


FORMAT = Format("junit.xml", junit)
