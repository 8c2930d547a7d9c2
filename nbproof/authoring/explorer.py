"""The explorer: whether reference, accepted answers and truth agree on all that a statement allows.

The checks of an exercise look at cases that an author chose. Beside them may lie ``explore.py``, whose explorations say what may
come at all ::

    from hypothesis import strategies as st
from nbproof.authoring.explorer import Exploration

    class AnyList(Exploration):
        "`every_other` takes any list."

        draws = {"items": st.lists(st.integers())}

        def probe(self, nb, case):
            return {"every_other(items)": nb.function("every_other")(case.drawn("items"))}

        def truth(self, case):
            return {"every_other(items)": case.drawn("items")[::2]}

An exploration is a check; its case has what hypothesis drew for ``draws``: plain values, and plans
(:class:`nbproof.checks.case.Plan`), each of which makes another object for probe and truth. Hypothesis looks for the smallest
draw on which an answer and the truth part. What is printed then is the probe itself, with what was drawn, as lines to be run.

Each answer has a process of its own, and its cell is run anew for each draw. The smallest draw is tried once more in new
processes: what an earlier draw has left behind is no disagreement.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import random
import re
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, ClassVar

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from IPython.core.interactiveshell import InteractiveShell

from nbproof.authoring.contract import to_run
from nbproof.authoring.forks import fork_server, settle
from nbproof.authoring.trial import Trial, prepare
from nbproof.checks.apart import run_apart
from nbproof.checks.case import Case, Plan
from nbproof.checks.check import Check, bring
from nbproof.checks.namespace import undisturbed
from nbproof.course_file import Course
from nbproof.lesson.exercise_folder import EXPLORE
from nbproof.lesson.lesson import Candidate, Exercise, Lesson
from nbproof.values.compare import first_difference, plainly
from nbproof.values.describe import shown
from nbproof.values.evidence import snapshot
from nbproof.values.leaf import warm_up
from nbproof.values.results import Finding, ProbeError, ProbeResult
from nbproof.values.words import Language, words_of

__all__ = ["Beyond", "Exploration", "Explored", "Search", "explore"]

_A_ROUND = 100
"""Draws of one search; the next one begins with another seed."""
_ANSWERS_WITHIN = 120.0
"""Seconds for one answer to one draw."""
_SHRINKS_WITHIN = 60.0
"""Seconds in which a disagreement is made smaller."""
_SHOWN = 400
"""Characters of what was brought."""


class Beyond(Exception):
    """Raised by a truth: this draw is beyond what the statement allows. It counts for nothing."""


class Exploration(Check):
    """A check whose case is drawn. Subclass it; the docstring says what may come."""

    draws: ClassVar[Mapping[str, st.SearchStrategy[Any]]] = {}
    """By name, what hypothesis draws."""


@dataclass(frozen=True)
class _DrawnCase(Case):
    """A case with what was drawn. Probe and truth have one each."""

    plans: Mapping[str, object] = field(default_factory=dict)

    def drawn(self, name: str) -> Any:
        """What was drawn under this name, anew at each call."""
        plan = self.plans[name]
        return plan.build() if isinstance(plan, Plan) else deepcopy(plan)


@dataclass(frozen=True)
class Search:
    """How long to look, and where to begin."""

    minutes: float = 1.0
    """For each exercise."""
    draws: int = 0
    """For each exploration so many draws instead, however long that takes."""
    seed: int = 0


@dataclass(frozen=True)
class _Disagreement:
    """The smallest draw that was found on which somebody parts from the truth."""

    exploration: str
    lines: str
    """The draw and the probe, to be run below an answer."""
    truth: str
    gave: Mapping[str, str]
    """What each answer gave; empty if that is the truth."""


@dataclass
class Explored:
    """What was found on one exercise."""

    exercise: str
    place: str
    draws: int = 0
    beyond: int = 0
    """Draws of them that the statement does not allow."""
    disagreements: list[_Disagreement] = field(default_factory=list)
    seconds: float = 0.0


def explore(
    course: Course, pairs: Sequence[tuple[Lesson, Exercise]], search: Search, step: Callable[[int, int, str], None]
) -> Iterator[Explored]:
    """Explore those of the exercises that have an ``explore.py``; ``step`` is told of progress."""
    warm_up(course)
    those = [(one, exercise) for one, exercise in pairs if (one.path.parent / exercise.id / EXPLORE).is_file()]
    for number, (lesson, exercise) in enumerate(those):
        start = time.perf_counter()
        file = lesson.path.parent / exercise.id / EXPLORE
        found = Explored(exercise.id, str(file))
        names = run_apart(file.read_text(encoding="utf-8"), str(file))
        tasks = [one for one in names.values() if inspect.isclass(one) and issubclass(one, Exploration) and one.draws]
        with TemporaryDirectory(ignore_cleanup_errors=True) as scratch, contextlib.ExitStack() as stack:
            right = [one for one in exercise.candidates if one.role in ("reference", "accepted")]
            trial = Trial(course, "", to_run(lesson, exercise)[0], (), files=lesson.files)
            answerers = [_Answerer(one, trial, file, Path(scratch)) for one in right]
            for one in answerers:
                stack.callback(one.end)
            for task in tasks:
                _Hunt(course, task, answerers, found, lambda told, done=number: step(done, len(those), told)).go(  # type: ignore[misc]
                    search, len(tasks)
                )
        found.seconds = time.perf_counter() - start
        yield found


class _Hunt:
    """The search of one exploration."""

    def __init__(
        self,
        course: Course,
        task: type[Exploration],
        answerers: list[_Answerer],
        found: Explored,
        tell: Callable[[str], None],
    ) -> None:
        self._course, self._task, self._answerers, self._found, self._tell = course, task, answerers, found, tell
        self._end = 0.0
        self._parted = list[dict[str, object]]()
        """The draws on which somebody did: hypothesis asks for the smallest again, and must hear the same."""

    def go(self, search: Search, among: int) -> None:
        """Look for a draw on which somebody parts from the truth, for this share of the time."""
        seconds = 1e9 if search.draws else search.minutes * 60 / among
        rounds = 1 if search.draws else 1_000_000
        self._end = time.monotonic() + seconds
        how = settings(
            max_examples=search.draws or _A_ROUND,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        strategy = st.fixed_dictionaries(dict(self._task.draws))
        for number in range(rounds):
            with contextlib.suppress(NoSuchExample):
                plans = find(
                    strategy, self._parts, settings=how, random=random.Random(search.seed * 1_000_000 + number)
                )
                return self._note(plans)
            if time.monotonic() > self._end:
                return None

    def _parts(self, plans: dict[str, object]) -> bool:
        """Whether anybody parts from the truth on this draw; no, once time is over."""
        now = time.monotonic()
        if plans in self._parted or now > self._end:
            return plans in self._parted
        self._found.draws += not self._parted
        self._tell(
            f"{self._found.exercise}: {self._found.draws} draws, {min(self._end - now, 5940) / 60:.1f} min left at most"
        )
        parts = any(self._compared(plans)[1].values())
        if parts:
            self._end = self._end if self._parted else now + _SHRINKS_WITHIN
            self._parted.append(plans)
        return parts

    def _compared(self, plans: dict[str, object]) -> tuple[str, dict[str, str]]:
        """The truth in words, and by name what each answer brought instead; empty if it brought the truth."""
        words = words_of(self._course)
        for one in self._answerers:
            one.ask(self._task.__name__, plans)
        case, truth, told = _DrawnCase(1, self._course, plans), None, ""
        try:
            with undisturbed({}, (), case):
                truth = self._task().truth(case)
            told = shown(snapshot(plainly(truth)), words, _SHOWN)
        except Beyond:
            self._found.beyond += not self._parted
        except Exception as error:
            truth, told = error, f"its own truth raises {type(error).__name__}: {error}"
        # In any case: what is not taken out would be the answer to the next draw.
        brought = {one.name: one.brought() for one in self._answerers}
        if isinstance(truth, Exception):
            return told, dict.fromkeys(brought, "not compared")
        if not told:
            return told, dict.fromkeys(brought, "")
        return told, {name: _instead(one, truth, words) for name, one in brought.items()}

    def _note(self, plans: dict[str, object]) -> None:
        for one in self._answerers:
            one.end()
        truth, gave = self._compared(plans)
        if any(gave.values()):
            self._found.disagreements.append(_Disagreement(self._task.__name__, _lines(self._task, plans), truth, gave))


def _instead(brought: ProbeResult, wanted: object, words: Language) -> str:
    """What was brought in words, if that is not what was wanted."""
    if brought.trouble is not None:
        return f"{brought.trouble.kind}: {brought.trouble.message}"
    difference = first_difference(brought.evidence, wanted, words)
    told = Finding("", "", difference is None, 1, difference=difference)
    return "" if told.passed else f"{shown(brought.evidence, words, _SHOWN)}: {words.finding(told)}"


class _Answerer:
    """An answer in a process of its own, which brings what an exploration asks for."""

    def __init__(self, answer: Candidate, trial: Trial, file: Path, scratch: Path) -> None:
        self.name = answer.name
        self._process: Any = None
        self._given = (answer.source, trial, file, scratch / answer.name)

    def ask(self, task: str, plans: dict[str, object]) -> None:
        """Begin with this draw."""
        if self._process is None:
            context = fork_server(self._given[1].course, __name__)
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs, *self._given), daemon=True)
            self._process.start()
            theirs.close()
        self._pipe.send((task, plans))

    def brought(self) -> ProbeResult:
        """What came of it."""
        with contextlib.suppress(EOFError, OSError):
            if self._pipe.poll(_ANSWERS_WITHIN):
                found: ProbeResult = self._pipe.recv()
                return found
        self.end()
        return ProbeResult(trouble=ProbeError("", "it has not answered: its process hangs, or has ended"))

    def end(self) -> None:
        """End the process; the next draw gets a new one."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def _serve(pipe: Connection, source: str, trial: Trial, file: Path, place: Path) -> None:
    """Answer in this process: the read-only cells once, and the answer's for each draw."""
    tasks = run_apart(file.read_text(encoding="utf-8"), str(file))
    place.mkdir(exist_ok=True)
    settle(place / str(time.monotonic_ns()), trial.files)
    with contextlib.redirect_stdout(io.StringIO()):
        errors = prepare(trial)
        while True:
            name, plans = pipe.recv()
            case, variables = _DrawnCase(1, trial.course, plans), dict(InteractiveShell.instance().user_ns)
            try:
                with undisturbed({}, (), case):
                    exec(compile(source, "<answer>", "exec"), variables)  # noqa: S102 (authors' own code)
            except Exception as error:
                pipe.send(ProbeResult(trouble=ProbeError(type(error).__name__, "; ".join([str(error), *errors]))))
            else:
                pipe.send(bring(tasks[name](), variables, case))


def _write_plan(name: str, plan: object) -> str:
    return plan.source(name) if isinstance(plan, Plan) else f"{name} = {plan!r}"


def _lines(task: type[Exploration], plans: Mapping[str, object]) -> str:
    """The draw, and the probe on it, as lines that anybody can run: its text, with the names in place of what they stand for."""
    text = textwrap.dedent(inspect.getsource(task.probe)).split("\n", 1)[1]
    text = re.sub(
        r'(?:case\.drawn|nb\.function|nb\.list|nb\.module)\("(\w+)"\)|\bnb\.(\w+)', r"\1\2", textwrap.dedent(text)
    )
    text = re.sub(r"^return ", "found = ", text, flags=re.MULTILINE)
    made = [_write_plan(name, plan) for name, plan in plans.items()]
    lines = [
        *"\n".join(made).split("\n"),
        *(line for line in text.rstrip().split("\n") if not re.fullmatch(r"(\w+) = \1", line)),
    ]
    needed = _needed(text, task.probe.__globals__)
    imports = dict.fromkeys(line for line in (*needed, *lines) if line.startswith(("import ", "from ")))
    return "\n".join(
        [
            *imports,
            *dict.fromkeys(one for one in needed if one not in imports),
            *(one for one in lines if one not in imports),
            "print(found)",
        ]
    )


def _needed(text: str, names: Mapping[str, Any]) -> list[str]:
    """How the names in a text come about that these variables hold."""
    found = list[str]()
    for name in dict.fromkeys(re.findall(r"\w+", text)):
        value = names.get(name)
        if isinstance(value, ModuleType):
            found.append(f"import {value.__name__} as {name}".removesuffix(f" as {value.__name__}"))
        elif inspect.isfunction(value) and value.__module__ == names["__name__"]:
            source, others = inspect.getsource(value).rstrip(), {one: names[one] for one in names if one != name}
            found += [*_needed(source, others), source]
        elif name in names and hasattr(value, "__module__"):
            found.append(f"from {value.__module__} import {name}")
    return found
