"""The notebook's shell of a sealed worker: IPython's, with outputs gathered as a notebook's.

A package that is not installed here, and a magic that needs a front end, end one line, not the answer.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import itertools
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from IPython.core.async_helpers import get_asyncio_loop
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

__all__ = ["Shell", "Stream", "new_shell", "outputs", "plain_python", "stand_in"]


class _Outputs:
    """Gathers what a cell prints and displays, in order, as nbformat outputs; cut off at a number of bytes."""

    def __init__(self) -> None:
        self.items: list[dict[str, Any]] = []
        self.left = 1_000_000
        self.cut = False

    def begin(self) -> None:
        """Start with the outputs of another cell."""
        self.items = []

    def make_room(self, size: int) -> None:
        """Keep at least ``size`` bytes of what comes next: a test's result must not be lost because others have printed a lot."""
        self.left = max(self.left, size)
        self.cut = False

    def stream(self, name: str, text: str) -> None:
        """Add printed text."""
        text = self.take(text)
        if not text and (name == "stdout" or any(item.get("name") == name for item in self.items)):
            return
        last = self.items[-1] if self.items else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["text"].append(text)
        else:
            self.items.append({"output_type": "stream", "name": name, "text": [text]})

    def take(self, text: str) -> str:
        """The part of a text that there is room for."""
        kept = text[: self.left]
        self.left -= len(kept)
        if len(kept) < len(text) and not self.cut:
            self.cut = True
            kept += "\n[output cut off: more than a graded notebook may hold]\n"
        return kept

    def add(self, item: dict[str, Any], size: int) -> None:
        """Add an output that is no printed text, if there is room; of a cell's first result always the text."""
        if size <= self.left:
            self.left -= size
            self.items.append(item)
            return
        kinds = [other["output_type"] for other in self.items]
        if item["output_type"] == "execute_result" and "execute_result" not in kinds:
            # It may be the score of a test cell.
            text = item["data"].get("text/plain")
            kept = text[:1_000] if isinstance(text, str) else ""
            self.items.append({**item, "data": {"text/plain": kept}})
        self.stream("stdout", " " * (self.left + 1))

    def finished(self) -> list[dict[str, Any]]:
        """The outputs as nbformat has them."""
        return list(map(_finished, self.items))


def _finished(item: dict[str, Any]) -> dict[str, Any]:
    if item["output_type"] != "stream":
        return item
    return {**item, "text": "".join(item["text"])}


outputs = _Outputs()
"""The outputs of this process's one shell."""


class Stream(io.TextIOBase):
    """sys.stdout or sys.stderr of the learner."""

    encoding = "utf-8"

    def __init__(self, name: str) -> None:
        self.stream_name = name

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        outputs.stream(self.stream_name, str(text))
        return len(text)


def _show(kind: str, data: dict[str, Any], metadata: Any, **more: Any) -> None:
    """Add what a cell displays, or ends in. Bytes travel in base64."""
    shown = {key: _without_bytes(value) for key, value in data.items()}
    size = sum(map(_size_of, shown.values()))
    outputs.add({"output_type": kind, "data": shown, "metadata": metadata or {}, **more}, size)


def _without_bytes(value: object) -> object:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _size_of(value: object) -> int:
    return len(value) if isinstance(value, str) else len(repr(value))


class _Publisher(DisplayPublisher):  # type: ignore[misc]
    def publish(self, data: dict[str, Any], metadata: Any = None, **_: Any) -> None:
        _show("display_data", data, metadata)

    def clear_output(self, wait: bool = False) -> None:
        outputs.items.clear()


class _Hook(DisplayHook):  # type: ignore[misc]
    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: dict[str, Any], md_dict: Any = None) -> None:
        if format_dict:
            _show("execute_result", format_dict, md_dict, execution_count=self.shell.execution_count)


class Shell(InteractiveShell):  # type: ignore[misc]
    """IPython's shell, with outputs gathered as a notebook's."""

    def init_io(self) -> None:
        pass

    @contextlib.contextmanager
    def _tee(self, channel: str) -> Iterator[None]:
        # IPython would keep a second copy of all that is printed, without any limit.
        yield

    def enable_gui(self, gui: Any = None) -> None:
        pass

    def _showtraceback(self, etype: type, evalue: BaseException, stb: list[str]) -> None:
        lines = "\n".join(stb)[:50_000].split("\n")
        item = {
            "output_type": "error",
            "ename": str(getattr(etype, "__name__", etype)),
            "evalue": str(evalue)[:5_000],
            "traceback": lines,
        }
        outputs.add(item, min(len(lines), 1000))

    def system(self, cmd: str) -> None:
        """Run ``!cmd``. Its output goes where a notebook shows it."""
        done = subprocess.run(  # noqa: S602 (what a learner asked for, in the learner's own sandbox)
            self.var_expand(cmd, depth=1), shell=True, stdin=subprocess.DEVNULL, capture_output=True
        )
        sys.stdout.write(done.stdout.decode(errors="replace"))
        sys.stderr.write(done.stderr.decode(errors="replace"))
        self.user_ns["_exit_code"] = done.returncode

    system_piped = system_raw = system

    def transform_cell(self, raw_cell: str) -> str:
        """A cell as Python. IPython looks at each line several times, so it gets short cells with magics or mistakes only.

        Raises SyntaxError for other ones; IPython takes whatever is raised here for the cell's own error.
        """
        plain, lines = plain_python(raw_cell), 1 + raw_cell.count("\n")
        if not plain and lines > _MOST_LINES:
            raise SyntaxError(f"this cell is not Python alone, and its {lines:,} lines are more than {_MOST_LINES:,}")
        return plain or str(super().transform_cell(raw_cell))

    def run_in_loop(self, source: str, history: bool) -> Any:
        """The result of a cell that runs as in a kernel: within an event loop, which is there for the cells below as well."""
        try:
            awaits = self.should_run_async(source, transformed_cell=self.transform_cell(source))
        except Exception:  # it is told when the cell runs
            awaits = False
        if awaits:
            return self.run_cell(source, store_history=history)

        async def cell() -> Any:
            return self.run_cell(source, store_history=history)

        return get_asyncio_loop().run_until_complete(cell())

    def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> Any:
        """Run ``%magic``. A magic that does not work here ends its line, and says so on stderr."""
        try:
            return super().run_line_magic(magic_name, line, _stack_depth + 1)
        except Exception as error:
            if magic_name in _RUN_CODE and not isinstance(error, UsageError):
                raise
            print(f"%{magic_name} did not work here ({type(error).__name__}: {error})", file=sys.stderr)
            return None

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> Any:
        """Run ``%%magic``. Below a magic that is not known here the cell runs as it is."""
        if self.find_cell_magic(magic_name) is not None:
            return super().run_cell_magic(magic_name, line, cell)
        print(f"%%{magic_name} is not known here; the cell runs without it", file=sys.stderr)
        result = self.run_cell(cell, store_history=False)
        result.raise_error()
        return result.result


_MOST_LINES = 5_000
"""Lines of a cell that IPython has to make Python of."""

_RUN_CODE = frozenset({"time", "timeit", "prun", "run", "debug", "memit", "mprun", "lprun"})
"""Magics that run a learner's code: its errors are the learner's."""


def plain_python(cell: str) -> str:
    """A cell that is Python as it stands, ended by a line break; empty for all others.

    Raises RecursionError for one that is nested too deeply.
    """
    with warnings.catch_warnings(), contextlib.suppress(SyntaxError, ValueError, MemoryError):
        warnings.simplefilter("ignore")
        ast.parse(cell)
        # Such a prompt, pasted with what stood behind it, would be an annotation. IPython looks for it in two lines.
        if not re.search(r"^[ \t]*In \[", cell, re.MULTILINE):
            return cell if cell.endswith("\n") else cell + "\n"
    return ""


def new_shell() -> Shell:
    """The shell of this process. Makes no thread: a process that has one cannot enter namespaces."""
    Shell.display_pub_class = _Publisher
    Shell.displayhook_class = _Hook
    # A history would be a thread and a database.
    made: Shell = Shell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    made.ast_transformers.append(_ImportsByThemselves())
    return made


class _ImportsByThemselves(ast.NodeTransformer):
    """Lets each import at the top of a cell go on without a package that is not installed here."""

    def visit_Module(self, node: ast.Module) -> ast.Module:
        statements = itertools.chain.from_iterable(map(_apart, node.body))
        node.body = [_tried(statement) for statement in statements]
        return node


def _apart(statement: ast.stmt) -> list[ast.stmt]:
    """``import a, b`` as one import each."""
    if not isinstance(statement, ast.Import):
        return [statement]
    return [ast.copy_location(ast.Import([alias]), statement) for alias in statement.names]


def _tried(statement: ast.stmt) -> ast.stmt:
    if not isinstance(statement, (ast.Import, ast.ImportFrom)) or getattr(statement, "module", "") == "__future__":
        return statement
    names = [alias.asname or alias.name.partition(".")[0] for alias in statement.names if alias.name != "*"]
    # A name that no cell can have taken: what follows `__import__` is looked up in this module.
    call = f"__import__({__name__!r}, fromlist=['stand_in']).stand_in(globals(), {names!r})"
    made = ast.parse(f"try:\n    pass\nexcept ModuleNotFoundError:\n    {call}").body[0]
    assert isinstance(made, ast.Try)
    for node in ast.walk(made):
        ast.copy_location(node, statement)
    made.body = [statement]
    return made


def stand_in(namespace: dict[str, Any], names: list[str]) -> None:
    """Give names that an import would have bound a stand-in, if the import failed because a package is not installed here.

    Code that uses a stand-in gets the error that the import got. A name that is bound already stays as it is.
    """
    message = str(sys.exc_info()[1])

    def refuse(_: object, name: object = "", *more: object, **named: object) -> None:
        if str(name).startswith("__"):
            raise AttributeError(name)
        raise ModuleNotFoundError(message)

    print(f"ModuleNotFoundError: {message}; the cell goes on without it", file=sys.stderr)
    for one in names:
        namespace.setdefault(one, type("NotInstalled", (), {"__getattr__": refuse, "__call__": refuse})())
