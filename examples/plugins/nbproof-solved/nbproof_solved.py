"""The command ``solved``: how many of those who handed in have solved each exercise, out of the last report."""

from __future__ import annotations

import argparse
import json
from collections import Counter

from nbproof.command import Command, Options, course_command, option
from nbproof.errors import UsageError

__all__ = ["COMMAND"]


def _solved(arguments: argparse.Namespace) -> int:
    path = arguments.course / "report" / "report.json"
    if not path.is_file():
        raise UsageError("there is no report yet", str(path), course_command("report"))
    rows = [
        row
        for row in json.loads(path.read_text(encoding="utf-8"))["scores"]
        if row["lesson"] in arguments.lessons or not arguments.lessons
    ]
    all_of_them = Counter((row["lesson"], row["id"]) for row in rows)
    solved = Counter((row["lesson"], row["id"]) for row in rows if row["status"] == "passed")
    for lesson, exercise in all_of_them:
        print(f"{lesson}  {exercise}: {solved[lesson, exercise]} of {all_of_them[lesson, exercise]}")
    return 0


_OPTIONS = Options(
    (option("lessons", nargs="*", metavar="LESSON", help="lessons (default: all of the report)"),),
    "Exit code 0: it is printed; 2: a wrong call.",
)
COMMAND = Command("solved", _solved, "how many have solved each exercise, by the last report", _OPTIONS)
