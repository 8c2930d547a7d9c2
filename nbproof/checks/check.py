"""The check: a probe that runs beside the learner's code, and a truth that knows what it should bring.

An exercise's ``checks.py`` holds classes such as ::

    from nbproof import Check, check

    class EveryOther(Check):
        "`answer` holds every other item, the first one too."

        def probe(self, nb, case):          # beside the learner's code: returns raw data
            ...
            return {"answer": nb.list("answer")}

        def truth(self, case):              # from the same seed, by a way that is surely right
            ...
            return {"answer": [items]}

    check("every_other", EveryOther)

and the check cell of the notebook says ``check("every_other")``, which finds them (:mod:`nbproof.checks.visible`).
In a notebook, and under stock nbgrader, ``check`` runs both in the kernel, shows a panel and raises
CheckFailed if something is wrong. A grader that does not trust the kernel runs only :meth:`Check.probe` there
(:func:`bring`) and everything else at home (:func:`judge`).
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, ClassVar

from nbproof import check, names_of
from nbproof.checks.apart import run_apart
from nbproof.checks.case import Case, seeds_of
from nbproof.checks.diagnosis import hint_for_difference, hint_for_error
from nbproof.checks.namespace import Notebook, trouble_of, undisturbed
from nbproof.checks.visible import hidden_text, visible_text
from nbproof.course_file import Course
from nbproof.display.session import SESSION
from nbproof.handed_out import key_of
from nbproof.lesson.check_cell import CHECK_LINE
from nbproof.text import readable
from nbproof.values.compare import first_difference
from nbproof.values.evidence import Evidence, snapshot
from nbproof.values.results import CheckFailed, Finding, ProbeResult, first_wrong
from nbproof.values.words import words_of

__all__ = [
    "CHECK_LINE",
    "Check",
    "bring",
    "check",
    "check_in",
    "collecting",
    "is_listed",
    "judge",
    "judge_here",
    "listing",
    "names_in",
    "names_of",
    "run_test_cell",
]


class Check:
    """One thing that an exercise asks for. Subclass it; the docstring says what is asked, in one sentence."""

    cases: ClassVar[int] = 2
    """The number of test cases, each with a seed of its own. All must pass."""
    poison: ClassVar[tuple[str, ...]] = ()
    """Notebook variables that are NaN while the probe runs, for answers that read them instead of arguments."""
    secret: ClassVar[bool] = False
    """True keeps wanted values out of every message, because they are the answer itself."""
    blame: ClassVar[Mapping[str, str]] = {}
    """Field of the result -> id of the one misconception that makes it wrong."""
    constant: ClassVar[str] = ""
    """Of a hidden check: why it wants the same from everybody, such as a prediction that running the given code shows.

    Its cell is exempt from the rule that nothing learners have may pass it. There are few such checks, because their marks are
    worth little.
    """
    claims: ClassVar[tuple[str, ...]] = ()
    """Fields that are the learner's own answer, or a fact of the language (``is``), though they are equal for all seeds.

    Other such fields guard no marks: anybody can say them.
    """
    errors: ClassVar[Mapping[str, str]] = {}
    """Regular expression for a part of ``Kind: message`` -> id of the misconception behind such an error in this exercise.

    They come before the patterns in :mod:`nbproof.checks.diagnosis`, which are for all exercises.
    """

    def probe(self, nb: Notebook, case: Case) -> object:
        """Run the learner's code on the case; return its results: arrays, numbers, text, in a dict by name."""
        raise NotImplementedError

    def truth(self, case: Case) -> object:
        """The result that :meth:`probe` should return, by a way that is surely right: the library's own, or the definition."""
        raise NotImplementedError

    def mistakes(self, case: Case) -> Mapping[str, object]:
        """Known misconceptions: hint id -> the result that it would bring (only the fields that tell)."""
        return {}


def bring(task: Check, namespace: dict[str, Any], case: Case, canary: str = "") -> ProbeResult:
    """Run the probe of ``task`` on a learner's namespace. An error that the learner's code raises comes back as trouble.

    ``canary``: the text of a wrong answer. The probe runs once more with it, amid all that the learner's code has changed and
    left on. If that result is right, any answer would be right there.
    """
    nb = Notebook(namespace, case.leaves)
    with undisturbed(namespace, task.poison, case) as output:
        try:
            evidence = snapshot(task.probe(nb, case))
            said = readable(output.getvalue())
            beside = _brought_instead(task, namespace, case, canary) if canary else None
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # also SystemExit, and any other that a learner's code raises
            trouble = trouble_of(error, type(task).probe.__code__.co_filename, case.course)
            return ProbeResult(trouble=trouble, printed=readable(output.getvalue()))
    return ProbeResult(evidence, printed=said, canary=beside)


def _brought_instead(task: Check, namespace: dict[str, Any], case: Case, answer: str) -> Evidence:
    """The result of a probe with this answer in the learner's place; None if it raises."""
    before = dict(namespace)
    try:
        with case.seeded("probe"):
            exec(compile(answer, "<answer>", "exec"), namespace)  # noqa: S102 (the instructor's text)
            return snapshot(task.probe(Notebook(namespace, case.leaves), case))
    except BaseException:
        return None
    finally:
        namespace.clear()
        namespace.update(before)


def judge_here(task: Check, case: Case, brought: ProbeResult) -> Finding:
    """The finding on a probe's result. Runs no learner code; settings that such code has left on do not change it."""
    # Process-wide settings that a learner's cell left behind must not change the truth.
    with undisturbed({}, (), case):
        try:
            return judge(task, case, brought)
        except MemoryError:
            return replace(_failed_finding(task, case, brought), unjudged="")


def _failed_finding(task: Check, case: Case, brought: ProbeResult) -> Finding:
    """A finding that says only that the check failed: nothing more is known yet."""
    asked = inspect.cleandoc(type(task).__doc__ or "")
    return Finding(type(task).__name__, asked, False, case.seed, printed=brought.printed)


def judge(task: Check, case: Case, brought: ProbeResult) -> Finding:
    """The same as :func:`judge_here`, for a process that has run no learner's code: there is nothing to set aside."""
    found = _failed_finding(task, case, brought)
    trouble = brought.trouble
    if trouble is not None:
        hint = hint_for_error(case.course, trouble.kind, trouble.message, trouble.place, trouble.inside, task.errors)
        return replace(found, trouble=trouble, hint=hint)
    wanted = task.truth(case)
    difference = first_difference(brought.evidence, wanted, words_of(case.course))
    if difference is None:
        return replace(found, passed=True, printed="")
    mistakes, poisoned = task.mistakes(case), bool(task.poison)
    hint = hint_for_difference(case.course, brought.evidence, difference, wanted, mistakes, task.blame, poisoned)
    if task.secret:
        return replace(found, difference=difference.withheld(), hint=hint)
    return replace(found, difference=difference, hint=hint, compared=(brought.evidence, wanted))


@contextmanager
def collecting(course: Course, seed: int = 0, namespace: dict[str, Any] | None = None) -> Iterator[list[Finding]]:
    """Within this block ``check`` neither shows nor raises: its findings gather in the list. For graders and tests.

    ``namespace`` holds the learner's variables, if the test cell runs in another one.
    """
    findings: list[Finding] = []
    with SESSION.changed(course=course, collected=findings, seed=seed, variables=namespace):
        yield findings


@contextmanager
def listing() -> Iterator[list[tuple[str, type[Check]]]]:
    """Within this block ``check`` runs nothing: the list gets an (exercise, class) pair for each check of its calls."""
    tasks: list[tuple[str, type[Check]]] = []
    with SESSION.changed(calls=tasks):
        yield tasks


def is_listed(exercise: str, tasks: Sequence[type[Check]]) -> bool:
    """Whether somebody lists what ``check`` is called with: then these checks are noted, and nothing has to run."""
    if SESSION.calls is None or not tasks:
        return False
    SESSION.calls.extend((exercise, task) for task in tasks)
    return True


def check_in(course: Course, variables: dict[str, Any], exercise: str, *tasks: type[Check], part: str = "") -> None:
    """Check an exercise in a notebook with these variables, and show a panel. Raises CheckFailed if it is wrong and nobody looks.

    Without ``tasks`` it runs the checks that learners have, of the exercise or of one ``part``, and also the hidden ones if
    they are at hand. Raises CourseError if there are none.
    """
    handed = tasks or _made_from(visible_text(course, exercise, part), f"the check of {key_of(exercise, part)}")
    if is_listed(exercise, handed):
        return
    namespace = variables if SESSION.variables is None else SESSION.variables
    base = SESSION.seed or 1
    findings = [_run(course, task(), namespace, base) for task in handed]
    if SESSION.collected is not None:
        SESSION.collected.extend(findings)
        return
    if not tasks and "NBGRADER_EXECUTION" not in os.environ:
        # Green means right: where the hidden checks are at hand they are asked as well. nbgrader runs them itself.
        hidden = _made_from(hidden_text(course, exercise, part), f"a hidden check of {key_of(exercise, part)}")
        findings += [_run(course, task(), namespace, base) for task in hidden]
    _tell(course, exercise, tuple(task.__name__ for task in handed), findings)


def run_test_cell(source: str) -> None:
    """Run a test cell of the notebook that is open in a namespace of its own: none of its names is the learner's."""
    with SESSION.changed(variables=sys.modules["IPython"].get_ipython().user_ns):
        run_apart(source, "the check")


def names_in(course: Course, exercise: str, part: str = "") -> dict[str, Any]:
    """The names that the visible checks define. In the instructor's notebook the hidden ones, which use them, begin with this."""
    with listing():
        return run_apart(visible_text(course, exercise, part), f"the check of {key_of(exercise, part)}")


def _made_from(text: str, name: str) -> tuple[type[Check], ...]:
    """The checks that a text hands to :func:`check`."""
    with listing() as calls:
        run_apart(text, name)
    return tuple(task for _, task in calls)


def _tell(course: Course, exercise: str, handed: tuple[str, ...], findings: Sequence[Finding]) -> None:
    """Show a panel, and raise CheckFailed if something is wrong and nobody sees the panel."""
    from nbproof.display.panel import show_findings, text_of
    from nbproof.front_end import person_at_work, shell

    if not findings or shell() is None or "NBGRADER_EXECUTION" in os.environ:
        show_findings(course, exercise, findings)
    else:
        _tell_a_person(course, exercise, handed, findings)
    wrong = first_wrong(findings)
    if wrong is not None and not person_at_work():
        raise CheckFailed(wrong, text_of(course, wrong), words_of(course).text("see above")) from None


def _tell_a_person(course: Course, exercise: str, handed: tuple[str, ...], findings: Sequence[Finding]) -> None:
    """Show a panel in a notebook, and note the result for `hint()` and `progress()`."""
    from nbproof.display.diary import DiaryError, note
    from nbproof.display.outline import exercise_named, fingerprint
    from nbproof.display.panel import say_untouched, show_findings
    from nbproof.front_end import ran_before

    known = exercise_named(course, exercise)
    wrong = first_wrong(findings)
    if wrong is not None and known is not None and fingerprint(ran_before(CHECK_LINE)) == known.stub:
        SESSION.remember(exercise, wrong)
        return say_untouched(course, exercise)  # "Run All" on a TODO cell as it was handed out is no try
    withheld = known.withheld(handed) if known is not None and len(findings) == len(handed) else 0
    show_findings(course, exercise, findings, withheld)
    solved = True
    with suppress(DiaryError):
        cells = known.cells if known is not None else ()
        solved = note(course, exercise, dict.fromkeys(handed, wrong is None), cells)
    SESSION.remember(exercise, wrong or findings[-1], withheld, solved)


def _run(course: Course, task: Check, namespace: dict[str, Any], base: int) -> Finding:
    """The finding on the first test case that fails, or else on the last one."""
    for seed in seeds_of(task.cases, base):
        case = Case(seed, course)
        finding = judge_here(task, case, bring(task, namespace, case))
        if not finding.passed:
            return finding
    return finding
