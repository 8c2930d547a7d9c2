"""Shows a probe the learner's notebook, and keeps the probe and its surroundings apart (:func:`undisturbed`)."""

from __future__ import annotations

import contextlib
import io
import linecache
import logging
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from nbproof.checks.case import Case
from nbproof.course_file import Course
from nbproof.text import printable
from nbproof.values.leaf import Leaves, leaves_of
from nbproof.values.results import UNANSWERED, ProbeError

__all__ = ["Notebook", "Unanswered", "missing_name", "trouble_of", "undisturbed"]

_MAX_PRINTED = 100_000

_LIBRARIES = (
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,
    *(os.path.join(folder, "") for folder in {sys.prefix, sys.base_prefix}),
)


class Unanswered(Exception):
    """A name that the check needs is not there, or is something else than asked for."""

    def __init__(self, name: str, found: str = "", wanted: str = "") -> None:
        super().__init__(name)
        self.trouble = ProbeError(UNANSWERED, printable(found[:2000]), name=name, wanted=wanted)


class Notebook:
    """Read access to the notebook's variables, with errors that a learner understands."""

    def __init__(self, namespace: dict[str, Any], leaves: Leaves) -> None:
        object.__setattr__(self, "_namespace", namespace)
        object.__setattr__(self, "_leaves", leaves)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._namespace[name]
        except LookupError:
            raise Unanswered(name) from None

    def list(self, name: str) -> list[Any]:
        """The variable ``name``, which must be a list."""
        return self._asked_for(name, "list", lambda value: isinstance(value, list))  # type: ignore[no-any-return]

    def function(self, name: str) -> Callable[..., Any]:
        """The variable ``name``, which must be callable."""
        return self._asked_for(name, "function", callable)  # type: ignore[no-any-return]

    def module(self, name: str) -> Any:
        """The variable ``name``, which must be a model of torch's."""
        return self._asked_for(name, "module", lambda value: isinstance(value, self._leaves.named("torch").models))

    def _asked_for(self, name: str, wanted: str, fits: Callable[[Any], bool]) -> Any:
        value = getattr(self, name)
        if not fits(value):
            raise Unanswered(name, type(value).__name__, wanted)
        return value


class _Printed(io.StringIO):
    """What is printed, up to a limit: a function that prints in a loop must not fill the memory."""

    def write(self, text: str) -> int:
        super().write(text[: max(0, _MAX_PRINTED - self.tell())])
        return len(text)


@contextlib.contextmanager
def undisturbed(namespace: dict[str, Any], poison: tuple[str, ...], case: Case) -> Iterator[io.StringIO]:
    """Within this block a probe may run: nothing around it reaches the probe, and nothing that it does reaches further.

    Yields the stream that gathers printed text. Warnings, log records and stderr are dropped (under stock nbgrader a byte on
    stderr costs all marks). Process-wide state of the course's leaf types (generators, modes, callbacks for all) is set aside
    and put back. So are the variables named in ``poison``: each is a NaN meanwhile.
    """
    before = {name: namespace[name] for name in poison if name in namespace}
    printed = _Printed()
    with contextlib.ExitStack() as aside:
        aside.enter_context(contextlib.redirect_stdout(printed))
        aside.enter_context(_no_stderr())
        aside.enter_context(_no_log_records())
        for leaf in case.leaves:
            aside.enter_context(leaf.seeded(case.seed_of("probe")))
            aside.enter_context(leaf.undisturbed())
        try:
            namespace.update({name: case.leaves.not_a_number() for name in poison})
            yield printed
        finally:
            for name in poison:
                namespace.pop(name, None)
            namespace.update(before)


@contextlib.contextmanager
def _no_log_records() -> Iterator[None]:
    """Drop log records. By logging.disable, hundreds of loggers would forget what they know, each time."""
    before = logging.Logger.callHandlers
    logging.Logger.callHandlers = lambda logger, record: None  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        logging.Logger.callHandlers = before  # type: ignore[method-assign]


@contextlib.contextmanager
def _no_stderr() -> Iterator[None]:
    """Drop warnings and stderr: Python's stream, and the file descriptor that C++ code writes to."""
    with contextlib.ExitStack() as aside:
        aside.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        aside.enter_context(contextlib.redirect_stderr(io.StringIO()))
        with contextlib.suppress(OSError):  # a process may have none
            saved = os.dup(2)
            aside.callback(os.close, saved)
            aside.callback(os.dup2, saved, 2)
            with open(os.devnull, "wb") as sink:
                os.dup2(sink.fileno(), 2)
        yield


def trouble_of(error: BaseException, probe_file: str, course: Course) -> ProbeError:
    """An exception as data: its class, its message with Python's suggestion, the learner's line.

    ``probe_file``: the name of the file that holds the probe; its lines are not the learner's.
    """
    if isinstance(error, Unanswered):
        return error.trouble
    line = 0
    code = ""
    inside = ""
    folders = tuple(leaf.folder for leaf in leaves_of(course))
    libraries = (*folders, *_LIBRARIES, *(place + os.sep for place in course.own_code))
    for frame, number in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        inside = frame.f_code.co_name if file.startswith(folders) else ""
        if not file.startswith(libraries) and file != probe_file:
            line = number
            code = linecache.getline(file, number, frame.f_globals).strip()
    kind = printable(type(error).__name__)
    return ProbeError(kind, _message(error)[:2000], line, printable(code)[:500], inside, missing_name(error))


def missing_name(error: BaseException | None) -> str:
    """The name that Python has not found, if ``error`` is a NameError; else empty."""
    # As the interpreter keeps it: a learner's class may call anything its name.
    found = NameError.name.__get__(error) if issubclass(type(error), NameError) else ""  # type: ignore[union-attr]
    return found[:500] if type(found) is str else ""


def _message(error: BaseException) -> str:
    """The message on one line, with the 'Did you mean' that Python only adds while it prints a traceback."""
    try:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        # A learner's __str__ may return a subclass of str: join() makes text of it.
        message = "".join([message])
    except Exception:
        message = "its message cannot be read"
    shown = traceback.TracebackException(type(error), error, error.__traceback__, limit=1, compact=True)
    found = re.search(r"Did you mean: .*", "".join(shown.format_exception_only()))
    suggestion = f" {found[0]}" if found and "Did you mean" not in message else ""
    return printable(" ".join(message.split()) + suggestion)
