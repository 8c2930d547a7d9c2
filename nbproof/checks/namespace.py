"""The learner's notebook as a probe sees it, and the calm in which a probe runs."""

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

import torch
from torch import nn
from torch.nn.modules import module as module_internals

from nbproof.checks.case import Case
from nbproof.course_file import the_course
from nbproof.text import readable
from nbproof.values.results import ProbeError

__all__ = ["Notebook", "Unanswered", "trouble_of", "undisturbed"]

_HOOK_REGISTERS = tuple(
    name
    for name in dir(module_internals)
    if name.startswith("_global_") and isinstance(getattr(module_internals, name), dict)
)

_MAX_PRINTED = 100_000

_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
_LIBRARIES = (
    _TORCH,
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,
    *(os.path.join(folder, "") for folder in {sys.prefix, sys.base_prefix}),
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
        except LookupError:
            raise Unanswered(f"`{name}` is not defined. Run the exercise's TODO cell, then this cell again.") from None

    def list(self, name: str) -> list[Any]:
        """The variable ``name``, which must be a list."""
        value = getattr(self, name)
        if not isinstance(value, list):
            raise Unanswered(f"`{name}` is {_kind(value)}, wanted a list.")
        return value

    def function(self, name: str) -> Callable[..., Any]:
        """The variable ``name``, which must be callable."""
        value = getattr(self, name)
        if not callable(value):
            raise Unanswered(f"`{name}` is {_kind(value)}, wanted a function.")
        return value  # type: ignore[no-any-return]

    def module(self, name: str) -> nn.Module:
        """The variable ``name``, which must be an nn.Module."""
        value = getattr(self, name)
        if not isinstance(value, nn.Module):
            raise Unanswered(f"`{name}` is {_kind(value)}, wanted an nn.Module.")
        return value


def _kind(value: object) -> str:
    name = type(value).__name__
    return "None" if value is None else f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"


class _Printed(io.StringIO):
    """What is printed, up to a limit: a hook that prints in a loop must not fill the memory."""

    def write(self, text: str) -> int:
        super().write(text[: max(0, _MAX_PRINTED - self.tell())])
        return len(text)


@contextlib.contextmanager
def undisturbed(namespace: dict[str, Any], poison: tuple[str, ...], case: Case) -> Iterator[io.StringIO]:
    """Run a probe so that nothing around it, and nothing it does, reaches further.

    Yields the stream that gathers what is printed meanwhile. Warnings, log records and stderr are
    dropped (under stock nbgrader a byte on stderr costs all marks). The global random generator, the
    gradient mode, the default dtype, hooks for all modules and hooks for saved tensors are set aside and put
    back, as are the variables named in ``poison``, each a NaN tensor meanwhile.
    """
    before = {name: namespace[name] for name in poison if name in namespace}
    registers = {name: getattr(module_internals, name) for name in _HOOK_REGISTERS}
    contents = {name: dict(register) for name, register in registers.items()}
    backward_kind = module_internals._global_is_full_backward_hook
    dtype, muted = torch.get_default_dtype(), logging.root.manager.disable
    printed = _Printed()
    with contextlib.ExitStack() as aside:
        aside.enter_context(contextlib.redirect_stdout(printed))
        aside.enter_context(_no_stderr())
        aside.enter_context(case.seeded("probe"))
        aside.enter_context(torch.enable_grad())
        aside.enter_context(_no_saved_tensors_hooks())
        try:
            logging.disable(logging.CRITICAL)
            torch.set_default_dtype(torch.float32)
            namespace.update({name: torch.full((1,), float("nan"), requires_grad=True) for name in poison})
            for register in registers.values():
                register.clear()
            module_internals._global_is_full_backward_hook = None
            yield printed
        finally:
            logging.disable(muted)
            torch.set_default_dtype(dtype)
            module_internals._global_is_full_backward_hook = backward_kind
            for name, register in registers.items():
                register.clear()
                register.update(contents[name])
            for name in poison:
                if name in before:
                    namespace[name] = before[name]
                else:
                    namespace.pop(name, None)


@contextlib.contextmanager
def _no_saved_tensors_hooks() -> Iterator[None]:
    """Set pack and unpack hooks aside that somebody has left on, and take those off that are left on meanwhile."""

    def taken_off() -> list[tuple[Any, Any]]:
        pairs = []
        while (pair := autograd._top_saved_tensors_default_hooks(True)) is not None:
            autograd._pop_saved_tensors_default_hooks()
            pairs.append(pair)
        return pairs

    autograd: Any = torch._C._autograd  # type: ignore[attr-defined]
    before = taken_off()
    try:
        yield
    finally:
        taken_off()
        for pack, unpack in reversed(before):
            autograd._push_saved_tensors_default_hooks(pack, unpack)


@contextlib.contextmanager
def _no_stderr() -> Iterator[None]:
    """Drop warnings and stderr: Python's stream, and the file descriptor that C++ code writes to."""
    with contextlib.ExitStack() as aside:
        aside.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        aside.enter_context(contextlib.redirect_stderr(io.StringIO()))
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


def trouble_of(error: BaseException, probe_file: str) -> ProbeError:
    """An exception as text: its class, its message with Python's suggestion, the learner's line."""
    if isinstance(error, Unanswered):
        return ProbeError("Unanswered", str(error))
    line = inside = ""
    libraries = (*_LIBRARIES, *(place + os.sep for place in the_course().own_code))
    for frame, number in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        inside = frame.f_code.co_name if file.startswith(_TORCH) else ""
        if not file.startswith(libraries) and file != probe_file:
            code = linecache.getline(file, number, frame.f_globals).strip()
            line = f"line {number} of your cell: {code}" if code else f"line {number} of your cell"
    return ProbeError(type(error).__name__, _message(error)[:2000], readable(line)[:500], inside)


def _message(error: BaseException) -> str:
    """The message on one line, with the 'Did you mean' that Python only adds while it prints a traceback."""
    try:
        # join() makes text of what a learner's __str__ may return as a subclass of str.
        said = "".join([error.msg if isinstance(error, SyntaxError) else str(error)])
    except Exception:
        said = "its message cannot be read"
    shown = traceback.TracebackException(type(error), error, error.__traceback__, limit=1, compact=True)
    found = re.search(r"Did you mean: .*", "".join(shown.format_exception_only()))
    suggestion = f" {found[0]}" if found and "Did you mean" not in said else ""
    return readable(" ".join(said.split()) + suggestion)
