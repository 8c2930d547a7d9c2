"""Plain nbgrader test cells, such as cells of asserts: what their outputs are worth, by nbgrader's own rule, and in words.

They run beside the learner's code, in its sealed process, and can be forged there; what they bring is outputs like any
other. What is hidden of them is not shown: neither their hidden lines, nor the outputs of a cell that has some.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.preprocessors import ClearHiddenTests, IgnorePattern
from nbgrader.utils import determine_grade
from traitlets.config import Config

from nbproof.cells import ITS_TESTS, CellKind, is_made_up
from nbproof.errors import CourseError
from nbproof.key import assignment_of
from nbproof.lesson.lesson import PlainCell
from nbproof.marking.results import CellRun
from nbproof.syntax import parsed
from nbproof.text import counted, head_of, printable
from nbproof.values.results import Finding, ProbeError

__all__ = [
    "PlainRun",
    "hidden_run",
    "plain_cell",
    "plain_findings",
    "plain_outputs",
    "plain_run",
    "plain_test_lines",
    "scored",
    "shown_of",
    "undecided",
]

_HIDDEN_FAILED = "A hidden test failed."
_NUMBER = re.compile(r"\A(?:np\.\w+|tensor|Array)\(([-+.\de]+)(?:, .*)?\)\Z")
"""How NumPy 2 and torch write a number, which nbgrader would take for full marks."""
_LOOKED_AT = 5_000
"""How many characters of stderr a pattern of the instructor's searches. Some patterns take time that grows with the square."""


def plain_cell(name: str, points: float, texts: tuple[str, str], exercise: str, config: Config) -> PlainCell:
    """A plain test cell of the instructor's; ``texts``: all of it, and what learners have."""
    marks, ignored = ClearHiddenTests(config=config), IgnorePattern(config=config)
    source, shown = texts
    visible, hidden, inside = list[str](), list[str](), False
    for line in source.splitlines():
        inside = inside or marks.begin_test_delimeter in line
        part = hidden if inside else visible
        part.append(line)
        inside = inside and marks.end_test_delimeter not in line
    harmless = ignored.pattern if ignored.enabled else ""
    try:
        re.compile(harmless)
    except re.error as error:
        raise CourseError(
            f"c.IgnorePattern.pattern is no regular expression: {error}: {harmless}",
            str(Path(config.CourseDirectory.root, "nbgrader_config.py")),
            "mend it there; then grade again",
        ) from None
    return PlainCell(
        CellKind.TEST,
        source,
        grade_id=name,
        points=points,
        shown=shown,
        hidden="\n".join(hidden),
        exercise=exercise,
        asked=_asked(name, "\n".join(visible)),
        harmless=harmless,
        decides=not _ends_with_a_comparison(source),
    )


def _ends_with_a_comparison(source: str) -> bool:
    try:
        last = parsed(source).body[-1:]
    except (SyntaxError, ValueError, RecursionError):
        return False
    return any(isinstance(node, ast.Expr) and _is_a_comparison(node.value) for node in last)


def _is_a_comparison(node: ast.expr) -> bool:
    if isinstance(node, ast.BoolOp):
        return all(map(_is_a_comparison, node.values))
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))


def _asked(name: str, visible: str) -> str:
    """What a test cell says of itself in its docstring or its first comment, as far as learners have it."""
    try:
        told = ast.get_docstring(parsed(visible)) or ""
    except (SyntaxError, ValueError, RecursionError):
        told = ""
    first = next((line.strip() for line in visible.splitlines() if line.strip()), "")
    if first.startswith("#"):
        told = told or first.lstrip("# ")
    if told.strip():
        return " ".join(told.split())[:300]
    return ITS_TESTS if is_made_up(name) else f"The tests of {name}."


@dataclass(frozen=True)
class PlainRun:
    """How a plain test cell ended."""

    score: float
    sentence: str = ""
    """Why it did not earn all of its points."""
    outputs: tuple[dict[str, Any], ...] = field(default=())
    """What may be shown."""


def scored(
    outputs: object, error: object, points: float, quoting: bool = True, harmless: str = ""
) -> tuple[float, str]:
    """The score of a test cell, by nbgrader's own rule from raw outputs, and a sentence if that is not all there is.

    ``error``: what the worker says ended the cell. Its output may have been cut off, which must not earn points.
    ``quoting``: whether the sentence may hold a word of the learner's. ``harmless``: as :attr:`PlainCell.harmless`.
    """
    brought = outputs if isinstance(outputs, list) else []
    told = list(filter(None, (_as_nbgrader_reads(one, harmless) for one in brought)))
    if error:
        told.insert(0, nbformat.v4.new_output("error", ename="", evalue="", traceback=[]))
    metadata = {"nbgrader": {"grade": True, "solution": False, "points": points}}
    try:
        score, _ = determine_grade(nbformat.v4.new_code_cell("", outputs=told, metadata=metadata))
    except (KeyError, ValueError):
        # nbgrader stops here, for the whole submission.
        result = next((one["data"].get("text/plain", "") for one in told if one["output_type"] == "execute_result"), "")
        said = f"the result `{printable(result[:40])}`" if quoting else "a result"
        return 0.0, (
            f"The test cell ended with {said}, which nbgrader does not accept as a score (maximum {points:g}). "
            "Your instructor has to look at it."
        )
    score = float(score or 0.0)
    failing = list(filter(_fails, told))
    if score >= points and (points or not failing):
        return score, ""
    if not failing:
        return score, f"The test cell gives {score:g} of {points:g} points."
    return score, _why_it_failed(failing, quoting)


def _why_it_failed(failing: Sequence[nbformat.NotebookNode], quoting: bool) -> str:
    """A sentence on these outputs of a test cell; see :func:`scored`."""
    if any(one["output_type"] == "error" for one in failing):
        return "The test cell ended with an error."
    written = "".join(one.text for one in failing).strip()
    quoted = f"beginning with `{printable(written.splitlines()[0][:200])}`" if quoting and written else ""
    return f"Something was written to stderr, {quoted or 'a warning for example'}: nbgrader gives no points then."


def _fails(output: Mapping[str, Any]) -> bool:
    return bool(output["output_type"] == "error" or output.get("name") == "stderr")


def _as_nbgrader_reads(output: object, harmless: str) -> nbformat.NotebookNode | None:
    """The part of an output that nbgrader's rule looks at; None if it looks at none of it."""
    if not isinstance(output, dict):
        return None
    kind, data = output.get("output_type"), output.get("data")
    if harmless and output.get("name") == "stderr" and re.search(harmless, str(output.get("text"))[:_LOOKED_AT]):
        return None
    if kind == "error":
        return nbformat.v4.new_output("error", ename="", evalue="", traceback=[])
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return nbformat.v4.new_output("stream", name=name, text=head_of(output.get("text"), 1_000))
    if kind == "execute_result":
        text = head_of(data.get("text/plain"), 1_000) if isinstance(data, dict) else ""
        return nbformat.v4.new_output("execute_result", {"text/plain": _NUMBER.sub(r"\1", text)})
    return None


def plain_run(test: PlainCell, answer: Mapping[str, Any], shown: tuple[dict[str, Any], ...]) -> PlainRun:
    """How the visible lines of a test cell ended, from what a worker brought. ``shown``: its outputs, made harmless."""
    error = answer.get("error")
    score, sentence = scored(answer.get("outputs"), error, test.points, harmless=test.harmless)
    if isinstance(error, list) and len(error) == 2 and all(isinstance(part, str) for part in error):
        sentence = _error_sentence(test, printable(error[0][:100]), error[1][:500], answer.get("line"))
    return PlainRun(score, sentence, shown)


def hidden_run(visible: PlainRun | None, test: PlainCell, answer: Mapping[str, Any]) -> PlainRun:
    """How a test cell with hidden lines ended when all of it ran: a score of a few digits.

    Why it is not whole is told from its ``visible`` lines, which ran where nothing was hidden yet.
    """
    score, sentence = scored(answer.get("outputs"), answer.get("error"), test.points, False, test.harmless)
    if not sentence:
        return PlainRun(score)
    if answer.get("error"):
        sentence = _HIDDEN_FAILED
    if visible is not None and visible.sentence:
        sentence = visible.sentence
    return PlainRun(round(score, 6), sentence)


def _error_sentence(test: PlainCell, kind: str, message: str, number: object) -> str:
    """A sentence on the error that ended a test cell. ``number``: of the line, as the worker says."""
    line = test.line(number)
    first = printable(message.strip().splitlines()[0].strip()) if message.strip() else ""
    if kind == "AssertionError" and line:
        return ": ".join(filter(None, [f"`{line[:200]}` does not hold", first])).rstrip(".") + "."
    said = f"{kind}: {first}" if first else kind
    return f"{said}, in `{line[:200]}`." if line else f"{said}."


def plain_findings(test: PlainCell, run: PlainRun | None) -> tuple[list[Finding], float]:
    """What a plain test cell found, and its marks. ``run``: None if it did not run."""
    name = test.grade_id
    if run is None:
        return [Finding(name, test.asked, False, part=name)], 0.0
    trouble = ProbeError("", run.sentence) if run.sentence else None
    return [Finding(name, test.asked, trouble is None, part=name, trouble=trouble)], run.score


def plain_test_lines(plain: Mapping[str, int]) -> list[str]:
    """What a run says of plain test cells, once an assignment. ``plain``: how many each lesson has."""
    counts = Counter[str]()
    for lesson, count in plain.items():
        counts[assignment_of(lesson)] += count
    told = "isolated, but such tests run beside the learner's code and can be forged"
    return [f"{name}: {counted(count, 'plain test cell')}: {told}" for name, count in counts.items()]


def undecided(lesson: str, tests: Mapping[str, PlainCell]) -> str:
    """A line on the test cells of a lesson that give everybody full marks; empty if there are none."""
    names = ", ".join(name for name, test in tests.items() if not test.decides)
    if not names:
        return ""
    return (
        f"{lesson}: {names}: ends with a comparison, and everybody who runs it to its end gets full marks, as in nbgrader; "
        "write assert before it, then grade again"
    )


def plain_outputs(score: float, points: float, outputs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Outputs of a graded test cell: people see them as they were, and nbgrader's rule makes this score of them."""
    made: list[dict[str, Any]] = []
    for output in outputs:
        kind = output["output_type"]
        if kind == "execute_result":
            made.append({"output_type": "display_data", "data": output["data"], "metadata": {}})
        elif kind == "stream":
            made.append({**output, "name": "stdout"})
        elif kind == "display_data" or (kind == "error" and score == 0 < points):
            made.append(output)
    if 0 < score < points:
        data = {"text/plain": repr(score)}
        made.append({"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None})
    return made


def shown_of(run: CellRun, secrets: Sequence[str]) -> CellRun:
    """What running a learner's cell left behind, without outputs that spell a hidden line out."""

    def tells(what: object) -> bool:
        text = json.dumps(what, ensure_ascii=False)
        return any(json.dumps(secret, ensure_ascii=False)[1:-1] in text for secret in secrets)

    if not secrets or not tells([list(run.outputs), run.error]):
        return run
    kept = tuple(output for output in run.outputs if not tells(output))
    error = "an error that quotes a hidden test" if tells(run.error) else run.error
    return CellRun(kept, error)
