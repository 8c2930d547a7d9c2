"""The same attacks on stock nbgrader, each in a process of its own with limits. For comparison only.

Those that could harm the machine, open connections or kill processes are never run here.
"""

from __future__ import annotations

import json
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.attacks.arsenal import HONEST, LESSON, Attack, Scene, Targets
from tests.attacks.assault import MARKER, REPO, build_course, canaries_in, fresh_tokens, remove
from tests.attacks.judging import runs_in_a_page

__all__ = ["StockResult", "stock_results"]

_SECONDS = 150


@dataclass(frozen=True)
class StockResult:
    """How stock nbgrader fared: ``verdict`` in a word or two, ``why`` in a few more."""

    verdict: str
    why: str = ""


def stock_results(attacks: Sequence[Attack], step: object = None) -> Iterator[tuple[Attack, StockResult]]:
    """Each attack's result, as it comes."""
    folder = Path(tempfile.mkdtemp(prefix="stock-"))
    try:
        tokens = fresh_tokens()
        targets = build_course(folder, sorted({LESSON, *(attack.lesson for attack in attacks)}), tokens)
        _make_stock(targets.root)
        for lesson in sorted({attack.lesson for attack in attacks if attack.stock == "run"}):
            _start(targets, tokens, lesson).communicate(timeout=_SECONDS)
        if (targets.root / "gradebook.db").exists():
            shutil.copy(targets.root / "gradebook.db", folder / "registered.db")
        for attack in attacks:
            if attack.stock != "run":
                yield attack, StockResult("not run", attack.stock.removeprefix("not run: "))
            else:
                yield attack, _run(targets, attack, tokens)
    finally:
        remove(folder)


def _make_stock(root: Path) -> None:
    """nbgrader's own preprocessors, and what this course's configuration sets for any grader."""
    (root / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.course_id = 'pytorch_hooks'\n"
        "c.ClearSolutions.code_stub = {'python': 'pass  # TODO: your code'}\n"
        "c.ExecutePreprocessor.timeout = 15\n",
        encoding="utf-8",
    )


def _run(targets: Targets, attack: Attack, tokens: dict[str, str]) -> StockResult:
    root = targets.root
    for part in ("submitted", "autograded"):
        remove(root / part)
    shutil.copy(root.parent / "registered.db", root / "gradebook.db")
    release = json.loads((root / "release" / attack.lesson / f"{attack.lesson}.ipynb").read_text(encoding="utf-8"))
    neighbour = {name: f"# {tokens['neighbour']}\n{text}" for name, text in HONEST.items()}
    if attack.lesson == LESSON:
        Scene(targets, "honest_full", attack.lesson, release).hand_in(neighbour)
    attack.build(Scene(targets, attack.name, attack.lesson, release))
    process = _start(targets, tokens, attack.lesson, attack.name)
    try:
        output, _ = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        _kill(process)
        return StockResult("run hangs", f"no end after {_SECONDS} s")
    finally:
        _kill(process)
    return _read(root, attack, output)


def _start(targets: Targets, tokens: dict[str, str], *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(Path(__file__).with_name("stock_apart.py")), str(targets.root), *words]
    return subprocess.Popen(
        command, cwd=targets.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        start_new_session=True, preexec_fn=_limit,
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(targets.home), "LANG": "C.UTF-8",
             "CANARY_VARIABLE": tokens["environment"], "PYTHONPATH": str(REPO),
             # A Unix socket's path has 107 characters at most.
             "JUPYTER_RUNTIME_DIR": str(targets.root.parent / "r")},
    )  # fmt: skip


def _limit() -> None:
    for kind, value in ((resource.RLIMIT_CPU, 120), (resource.RLIMIT_FSIZE, 1 << 30), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (value, value))


def _kill(process: subprocess.Popen[str]) -> None:
    import contextlib
    import os

    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


def _read(root: Path, attack: Attack, output: str) -> StockResult:
    """What the child said in its last line, and what it left in autograded/."""
    lines = [line for line in output.splitlines() if line.startswith("RESULT ")]
    if not lines:
        return StockResult("run ends", (output.strip().splitlines() or ["?"])[-1][:60])
    told = json.loads(lines[-1].removeprefix("RESULT "))
    written = [
        path
        for path in (root / "autograded" / attack.name).rglob("*")
        if path.is_file() and path.stat().st_size < 10**8
    ]
    # nbgrader itself writes the hidden tests into the graded notebook: only outputs tell what the attack saw.
    data = b"".join(_outputs(path.read_bytes()) for path in written)
    seen = sorted({token.rsplit("-", 1)[1] for token in canaries_in(data)})
    honest = 2.0 * len(attack.honest)
    if told["score"] is None:
        return StockResult("submission lost", told["why"][:60])
    attacked = told["cells"].get(f"test_{attack.exercise}", 0.0)
    if attacked or told["score"] > honest:
        return StockResult("marks gained", f"{told['score']:g}, {honest:g} earned")
    if seen:
        return StockResult("canary read", ", ".join(seen))
    if MARKER.encode() in data:
        return StockResult("escaped")
    runs = runs_in_a_page(root, attack) if attack.family == "html" else []
    if runs:
        return StockResult("runs in the page", runs[0][:60])
    if told["score"] < honest:
        return StockResult("held", f"but {told['score']:g} of {honest:g} earned marks are left")
    return StockResult("held")


def _outputs(data: bytes) -> bytes:
    """The outputs of a graded notebook; any other file as it is."""
    try:
        cells = json.loads(data)["cells"]
    except (ValueError, KeyError, TypeError):
        return data
    return json.dumps([cell.get("outputs") for cell in cells]).encode()
