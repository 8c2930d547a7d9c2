"""What to do if one of nbgrader's own commands cannot go on: said below what nbgrader says.

nbgrader_config.py names :class:`NextStep` in ``c.Application.logging_config``, which every program made with traitlets has.
nbgrader ends before it asks for an exporter or calls a hook if nothing matches: its log is the only place to say more.
"""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

from nbproof.command import course_command, nbgrader_command

__all__ = ["NextStep", "step_before"]

_NOTHING_MATCHED = re.compile(
    r"No notebooks were matched by '(?P<root>.*)/(?P<step>autograded|submitted)/[^/]*/(?P<lesson>[^/]*)'"
)
_NO_EXCHANGE = re.compile(
    r"(?:Unwritable directory, please contact your instructor: (?P<there>.*)"
    r"|Could not (?:create|change permissions of) (?P<made>.*), permission denied\.)"
)


class NextStep(logging.Filter):
    """Lets everything through, and adds a line to what it knows."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always true."""
        if record.levelno >= logging.ERROR and not hasattr(record, "next_step"):
            said = record.getMessage()
            more = _after_nothing_matched(said) or _after_no_exchange(said, record.name)
            record.next_step = more
            if more:
                record.msg, record.args = f"{said}\n  next: {more}", ()
        return True


def _after_nothing_matched(said: str) -> str:
    found = _NOTHING_MATCHED.match(said)
    return step_before(found["step"], Path(found["root"]), found["lesson"]) if found else ""


def step_before(step: str, root: Path, lesson: str) -> str:
    """What to do if the folder ``step`` of the course in ``root`` has nothing of a lesson; '' if that is not known."""
    if not (root / "source" / lesson).is_dir():
        lessons = sorted(path.parent.name for path in root.glob("source/*/*.ipynb"))
        return f"no lesson is called {lesson}; choose from: {', '.join(lessons) or 'none'}"
    if step == "feedback" and any(root.glob(f"autograded/*/{lesson}/*.ipynb")):
        return f"write the pages first: {course_command('feedback')} (or {nbgrader_command(f'generate_feedback {lesson}')})"
    if not any(root.glob(f"submitted/*/{lesson}/*.ipynb")):
        return f"nothing of {lesson} is handed in yet: put notebooks into submitted/<learner>/{lesson}/{lesson}.ipynb"
    if step == "submitted":
        return ""
    return (
        f"nothing of {lesson} is graded yet. Grade it first: {nbgrader_command(f'autograde {lesson}')}"
        f" (or {course_command('grade')}, which writes the feedback too)"
    )


def _after_no_exchange(said: str, program: str) -> str:
    found = _NO_EXCHANGE.match(said)
    if found is None:
        return ""
    place = found["there"] or found["made"]
    ours = "this course does without nbgrader's exchange. "
    if "Feedback" in program:
        ours += f"The pages lie in feedback/; to hand them back: {course_command('feedback --for folder')} (or moodle, canvas)"
    elif "Assignment" in program:
        ours += f"Hand out what stands in release/: {course_command('bundle')} makes a zip of it"
    else:
        return ""
    do = "make it writable for everybody" if os.path.isdir(place) else f"sudo install -d -m 777 {place}"
    return f"{ours}. If you do want the exchange: {do}, or name another folder as c.Exchange.root in nbgrader_config.py"
