"""The learner's notebook as a probe sees it, and the calm in which a probe runs."""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.modules import module as module_internals

from course.case import Case
from course.results import Trouble

__all__ = ["Notebook", "Unanswered", "trouble_of", "undisturbed"]

_HOOK_REGISTERS = tuple(
    name
    for name in dir(module_internals)
    if name.startswith("_global_") and isinstance(getattr(module_internals, name), dict)
)


class Unanswered(Exception):
    """A name that the check needs is not there, or is something else than asked for."""


class Notebook:
    """Read access to the notebook's variables, with errors that a learner understands."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        object.__setattr__(self, "_namespace", namespace)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._namespace[name]
        except KeyError:
            raise Unanswered(f"`{name}` is not defined. Run the exercise's TODO cell, then this cell again.") from None

    def list(self, name: str) -> list[Any]:
        """The variable ``name``, which must be a list."""
        value = getattr(self, name)
        if not isinstance(value, list):
            raise Unanswered(f"`{name}` is a {type(value).__name__}, wanted a list.")
        return value

    def function(self, name: str) -> Callable[..., Any]:
        """The variable ``name``, which must be callable."""
        value = getattr(self, name)
        if not callable(value):
            raise Unanswered(f"`{name}` is a {type(value).__name__}, wanted a function.")
        return value  # type: ignore[no-any-return]

    def module(self, name: str) -> nn.Module:
        """The variable ``name``, which must be an nn.Module."""
        value = getattr(self, name)
        if not isinstance(value, nn.Module):
            raise Unanswered(f"`{name}` is a {type(value).__name__}, wanted an nn.Module.")
        return value


@contextlib.contextmanager
def undisturbed(namespace: dict[str, Any], poison: tuple[str, ...], case: Case) -> Iterator[io.StringIO]:
    """Run a probe so that nothing around it, and nothing it does, reaches further.

    Yields the stream that gathers what is printed meanwhile. Warnings and stderr are dropped (under
    stock nbgrader a byte on stderr costs all marks). The global random generator, the gradient mode,
    the default dtype and hooks for all modules are set aside and put back, as are the variables
    named in ``poison``, each a NaN tensor meanwhile.
    """
    before = {name: namespace[name] for name in poison if name in namespace}
    registers = {name: getattr(module_internals, name) for name in _HOOK_REGISTERS}
    contents = {name: dict(register) for name, register in registers.items()}
    dtype = torch.get_default_dtype()
    printed = io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(printed))
        stack.enter_context(_no_stderr())
        stack.enter_context(case.seeded("probe"))
        stack.enter_context(torch.enable_grad())
        torch.set_default_dtype(torch.float32)
        namespace.update({name: torch.full((1,), float("nan"), requires_grad=True) for name in poison})
        for register in registers.values():
            register.clear()
        try:
            yield printed
        finally:
            torch.set_default_dtype(dtype)
            for name, register in registers.items():
                register.clear()
                register.update(contents[name])
            for name in poison:
                if name in before:
                    namespace[name] = before[name]
                else:
                    namespace.pop(name, None)


@contextlib.contextmanager
def _no_stderr() -> Iterator[None]:
    """Drop warnings and stderr: Python's stream, and the file descriptor that C++ code writes to."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        try:
            saved = os.dup(2)
        except OSError:
            saved = -1
        if saved >= 0:
            sink = os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, 2)
            os.close(sink)
        try:
            yield
        finally:
            if saved >= 0:
                os.dup2(saved, 2)
                os.close(saved)


def trouble_of(error: BaseException, probe_file: str) -> Trouble:
    """An exception as text: its class, its message with Python's suggestion, the learner's line."""
    if isinstance(error, Unanswered):
        return Trouble("Unanswered", str(error))
    formatted = traceback.TracebackException(type(error), error, None, compact=True)
    lines = "".join(formatted.format_exception_only()).strip().splitlines()
    message = lines[-1] if lines else type(error).__name__
    suggestion = _suggestion(error)
    kind = type(error).__name__
    message = message.removeprefix(f"{kind}: ").removeprefix(kind) + suggestion
    own = os.path.dirname(os.path.abspath(__file__))
    base = os.path.dirname(os.path.abspath(torch.__file__))
    line = ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        library = file.startswith((own, base, sys.prefix, sys.base_prefix)) or file == probe_file
        if not library:
            code = linecache.getline(file, number, frame.f_globals).strip()
            line = f"line {number} of your cell: {code}" if code else f"line {number} of your cell"
    return Trouble(kind, message[:2000], line)


def _suggestion(error: BaseException) -> str:
    """Python's 'Did you mean', which it only adds while it prints a traceback."""
    text = "".join(traceback.format_exception(error)).strip()
    found = text.rfind("Did you mean: ")
    if found < 0 or "Did you mean" in str(error):
        return ""
    return " " + text[found:].splitlines()[0]
