"""A class of attackers and honest neighbours in a temporary course: built, graded, and looked at afterwards."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import select
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from nbproof.display.words import ENGLISH
from nbproof.values.results import Outcome as Ended
from tests import without_demonstrations
from tests.attacks.adopted import adopt_into
from tests.attacks.arsenal import HONEST, LESSON, Attack, Scene, Targets

REPO = Path(__file__).resolve().parents[2]
LIMITS = {"exercise_seconds": 5.0, "submission_seconds": 30.0, "memory_mb": 512}
"""Short, and still long for honest work on a machine that does something else as well."""
MARKER = "PWNED:"
"""What an attack prints when something worked that should not."""

NEIGHBOURS: dict[str, dict[str, str]] = {
    "aa_honest_first": HONEST,
    "honest_full": HONEST,
    "honest_part": {"weight_grad": HONEST["weight_grad"], "double_grad": "def func(grad):\n    return grad + 1"},
    "honest_none": {},
    "zz_honest_last": HONEST,
}
"""Honest learners among the attackers, and their answers."""

_TOKEN = re.compile(rb"CANARY-[0-9a-f]{16}-[a-z_]+")


@dataclass
class Outcome:
    """What a run left behind."""

    root: Path
    scores: dict[str, dict[str, Any]]
    """By learner: score, problem."""
    verdicts: dict[str, dict[str, Any]]
    """By learner: the journalled verdict; missing where nothing was graded."""
    seconds: float
    peak_mb: float
    heard: list[str] = field(default_factory=list)
    """What arrived at the listeners."""
    left: list[str] = field(default_factory=list)
    """Processes and files that should not be there."""
    output: str = ""
    notes: list[str] = field(default_factory=list)
    uid: int = 0
    """Who graded."""
    level: str = ""
    """How it was isolated."""
    tokens: dict[str, str] = field(default_factory=dict)
    attacks: Sequence[Attack] = ()

    def exercise(self, learner: str, name: str) -> dict[str, Any]:
        """The verdict on one exercise, with its score and what the learner is told."""
        found: dict[str, Any] = next(one for one in self.verdicts[learner]["exercises"] if one["id"] == name)
        return {**found, "score": sum(found["points"].values()), "sentence": ENGLISH.outcome(Ended.from_dict(found))}

    def source(self, lesson: str) -> dict[str, Any]:
        """The instructor's notebook of a lesson that was graded."""
        found: dict[str, Any] = json.loads((self.root / "source" / lesson / f"{lesson}.ipynb").read_text())
        return found

    def written(self, learner: str) -> Iterator[tuple[Path, bytes]]:
        """Every file that the run wrote for a learner."""
        for path in sorted((self.root / "autograded" / learner).rglob("*")):
            if path.is_file():
                yield path, path.read_bytes()


def canaries_in(data: bytes) -> set[str]:
    """The tokens in some bytes."""
    return {token.decode() for token in _TOKEN.findall(data)}


def build_course(folder: Path, lessons: Sequence[str], tokens: dict[str, str], whole: bool = True) -> Targets:
    """A course with only these lessons, short limits, and canaries wherever a learner should not look.

    ``whole``: with every lesson's demonstrations; else :data:`LESSON` alone has its own, in which most attacks stand.
    """
    root, home = folder / "course", folder / "home"
    root.mkdir(parents=True)
    (home / ".ssh").mkdir(parents=True)
    for part in ("source", "release", "lessons"):
        for lesson in lessons:
            ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
            shutil.copytree(REPO / part / lesson, root / part / lesson, ignore=ignored)
            if not whole and lesson != LESSON and part != "lessons":
                without_demonstrations(root / part / lesson / f"{lesson}.ipynb")
    config = (REPO / "nbgrader_config.py").read_text(encoding="utf-8")
    (root / "nbgrader_config.py").write_text(f"{config}\n{_limits()}", encoding="utf-8")
    for lesson in lessons:
        source = root / "source" / lesson / f"{lesson}.ipynb"
        notebook = json.loads(source.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            # In hidden truths: where only the judge has business.
            shown, mark, hidden = "".join(cell["source"]).partition("### BEGIN HIDDEN TESTS")
            line = "def truth(self, case):\n"
            cell["source"] = shown + mark + hidden.replace(line, f"{line}        '{tokens['source']}'\n")
        source.write_text(json.dumps(notebook, indent=1), encoding="utf-8")
        with (root / "lessons" / lesson / "lesson.py").open("a", encoding="utf-8") as file:
            file.write(f"# {tokens['lessons']}\n")
    return _furnished(root, home, tokens)


def build_adopted(folder: Path, tokens: dict[str, str]) -> Targets:
    """The same with :data:`LESSON` as a plain nbgrader notebook, adopted."""
    root, home = folder / "course", folder / "home"
    (home / ".ssh").mkdir(parents=True)
    adopt_into(root, f"c = get_config()\n{_limits()}", tokens)
    return _furnished(root, home, tokens)


def _limits() -> str:
    return "".join(f"c.GradingLimits.{name} = {value!r}\n" for name, value in LIMITS.items())


def _furnished(root: Path, home: Path, tokens: dict[str, str]) -> Targets:
    (root / "gradebook_notes.txt").write_text(tokens["gradebook"])
    (home / ".ssh" / "id_ed25519").write_text(tokens["home"])
    (home / ".bash_history").write_text(tokens["home"])
    return Targets(root, home)


def hand_in(targets: Targets, attacks: Sequence[Attack], tokens: dict[str, str]) -> None:
    """Write the submissions of the attackers and of their neighbours."""
    releases: dict[str, Any] = {}

    def scene(learner: str, lesson: str) -> Scene:
        if lesson not in releases:
            text = (targets.root / "release" / lesson / f"{lesson}.ipynb").read_text(encoding="utf-8")
            releases[lesson] = json.loads(text)
        return Scene(targets, learner, lesson, releases[lesson])

    for learner, answers in NEIGHBOURS.items():
        scene(learner, LESSON).hand_in({name: f"# {tokens['neighbour']}\n{text}" for name, text in answers.items()})
    for attack in attacks:
        attack.build(scene(attack.name, attack.lesson))


def fresh_tokens() -> dict[str, str]:
    names = ("source", "lessons", "gradebook", "neighbour", "home", "environment", "tmp", "shm")
    return {name: f"CANARY-{secrets.token_hex(8)}-{name}" for name in names}


@contextlib.contextmanager
def listeners(folder: Path) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Listeners on TCP, UDP, a Unix socket and an abstract one; yields how to reach them, and what they heard."""
    heard: list[str] = []
    path, name = str(folder / "listener.sock"), f"course-listener-{secrets.token_hex(4)}"
    with contextlib.ExitStack() as stack:
        tcp, unix, abstract = (
            stack.enter_context(socket.socket(kind)) for kind in (socket.AF_INET, *[socket.AF_UNIX] * 2)
        )
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        names = {tcp: "tcp", udp: "udp", unix: "unix", abstract: "abstract"}
        for one, address in zip(names, (("127.0.0.1", 0), ("127.0.0.1", 0), path, "\0" + name), strict=True):
            one.bind(address)
            if one is not udp:
                one.listen()
        os.chmod(path, 0o777)
        stop = threading.Event()

        def listen() -> None:
            while not stop.is_set():
                for one in select.select([*names], [], [], 0.2)[0]:
                    heard.append(names[one])
                    with contextlib.suppress(OSError):
                        one.recv(65536) if one is udp else one.accept()[0].close()

        thread = threading.Thread(target=listen)
        thread.start()
        stack.callback(thread.join)
        stack.callback(stop.set)
        yield {"tcp": tcp.getsockname()[1], "udp": udp.getsockname()[1], "unix": path, "abstract": name}, heard


@contextlib.contextmanager
def planted(tokens: dict[str, str]) -> Iterator[None]:
    """Canaries in the machine's own /tmp and /dev/shm."""
    places = {"tmp": Path("/tmp"), "shm": Path("/dev/shm")}
    paths = {name: place / f"canary-{tokens[name][7:15]}.txt" for name, place in places.items() if place.is_dir()}
    for name, path in paths.items():
        path.write_text(tokens[name])
    try:
        yield
    finally:
        for path in paths.values():
            path.unlink(missing_ok=True)


Start = Callable[[list[str], dict[str, str], Path], "subprocess.CompletedProcess[str]"]


def start_here(command: list[str], environment: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as whoever we are."""
    how: dict[str, Any] = {"capture_output": True, "text": True, "errors": "replace", "timeout": 3600}
    return subprocess.run(command, env=environment, cwd=folder, check=False, **how)


ORDINARY = 1000
"""An ordinary user's id."""


class NotHere(Exception):
    """This machine does not let root become somebody else and reach the interpreter."""


def start_as_ordinary(
    command: list[str], environment: dict[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run a command as an ordinary user, by root. Raises NotHere where that is impossible.

    The interpreter may lie below /root, which only root may enter. In a mount namespace of its own, which ends with the
    command, that folder is covered by an empty one that holds what the command needs, and no more.
    """
    needed = {os.path.realpath(place) for place in (sys.base_prefix, sys.prefix, str(REPO))}
    closed = [shlex.quote(place) for place in sorted(needed) if place.startswith("/root/")]
    steps = ["umask 022", "mount -t tmpfs none /mnt"]
    steps += [f"mkdir -p /mnt{place} && mount --rbind {place} /mnt{place}" for place in closed]
    steps += ["mount -t tmpfs -o mode=755 none /root"]
    steps += [f"mkdir -p {place} && mount --rbind /mnt{place} {place}" for place in closed]
    become = f'exec setpriv --reuid {ORDINARY} --regid {ORDINARY} --clear-groups "$@"'
    script = f"{' && '.join(steps)} || exit 77; {become}"
    ended = start_here(["unshare", "--mount", "sh", "-c", script, "sh", *command], environment, folder)
    if ended.returncode == 77 or ended.stderr.startswith("unshare:"):
        raise NotHere(f"this machine does not let root become an ordinary user here: {ended.stderr.strip()}")
    return ended


def assault(
    folder: Path, attacks: Sequence[Attack], seed: int = 424242, start: Start = start_here, uid: int | None = None,
    level: str = "", through: str = "grade", whole: bool = False, adopted: bool = False,
) -> Outcome:  # fmt: skip
    """Grade all attackers and their neighbours in one run. ``uid`` owns the course, where it is not us.

    ``level``: of isolation, as the command line names it; the best where empty. ``through``: ``grade``, or ``autograde``
    of nbgrader's. ``whole``: see :func:`build_course`. ``adopted``: the lesson is made of somebody's nbgrader notebook.
    """
    tokens = fresh_tokens()
    lessons = sorted({LESSON, *(attack.lesson for attack in attacks)})
    with contextlib.ExitStack() as stack:
        reach, heard = stack.enter_context(listeners(folder))
        stack.enter_context(planted(tokens))
        course = build_adopted(folder, tokens) if adopted else build_course(folder, lessons, tokens, whole)
        sleeper = subprocess.Popen(
            ["sleep", "3600"], **({} if uid is None else {"user": uid, "group": uid, "extra_groups": []})
        )
        stack.callback(lambda: (sleeper.kill(), sleeper.wait()))
        targets = Targets(course.root, course.home, victim=sleeper.pid, **reach)
        hand_in(targets, attacks, tokens)
        scratch = folder / "tmp"
        scratch.mkdir()
        if uid is not None:
            _give(folder, uid)
        before, state = _places(), _state(targets.root)
        facts_path = scratch / "facts.json"
        program = [sys.executable, str(Path(__file__).with_name("grade_apart.py"))]
        command = [*program, str(targets.root), str(seed), str(facts_path), level, through]
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(targets.home), "TMPDIR": str(scratch), "LANG": "C.UTF-8",
            "CANARY_VARIABLE": tokens["environment"], "PYTHONDONTWRITEBYTECODE": "1", "MPLCONFIGDIR": str(scratch / "mpl"),
        }  # fmt: skip
        ended = start(command, environment, folder)
        if ended.returncode or not facts_path.exists():
            raise AssertionError(
                f"the run of a whole class ended with {ended.returncode}:\n{ended.stdout[-1500:]}\n{ended.stderr[-6000:]}"
            )
        facts = json.loads(facts_path.read_text())
        left = [f"process {process}" for process in _processes(str(scratch))]
        left += [f"file {path}" for path in _places() - before]
        left += [f"file {path}" for path in _marked_files(folder)]
        left += [f"changed {name}" for name in sorted(set(_state(targets.root).items()) ^ set(state.items()))]
        if sleeper.poll() is not None:
            left.append("somebody else's process was killed")
    verdicts = {}
    for path in sorted((targets.root / "autograded").glob("*/*/.verdict.json")):
        verdicts[path.parent.parent.name] = json.loads(path.read_text(encoding="utf-8"))["verdict"]
    scores = {score["learner"]: score for score in facts["scores"]}
    return Outcome(
        targets.root, scores, verdicts, facts["seconds"], facts["peak_mb"], heard, left, ended.stdout + ended.stderr,
        facts["notes"], facts["uid"], facts["level"], tokens, attacks,
    )  # fmt: skip


def _give(folder: Path, uid: int) -> None:
    # Not os.walk: one submission is deeper than Python recurses.
    subprocess.run(["chown", "-R", "-h", f"{uid}:{uid}", str(folder)], check=True)


def remove(folder: Path) -> None:
    """Remove an assault's folder, whatever the attackers handed in."""
    subprocess.run(["rm", "-rf", str(folder)], check=False)


def _marked_files(folder: Path) -> Iterator[str]:
    """Files that attacks made within the run's folder, other than those that they handed in."""
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "submitted"]
        yield from (os.path.join(place, name) for name in (*folders, *files) if "pwned" in name)


def _state(root: Path) -> dict[str, str]:
    """A fingerprint of each file that grading has no business to change."""
    paths = [
        *root.glob("source/*/*"),
        *root.glob("lessons/*/lesson.py"),
        *root.glob("*.*"),
        *root.glob("submitted/*honest*/*/*"),
    ]
    ours = {"gradebook.db"}
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in paths if p.is_file() and p.name not in ours}


def _places() -> set[str]:
    """Files of attacks in places that everybody can write to."""
    from course.sources import __file__ as course_file

    found: set[str] = set()
    prefixes = (sys.prefix, sys.base_prefix, os.path.dirname(course_file), str(REPO))
    for place in ("/tmp", "/var/tmp", "/dev/shm", "/run", "/", os.path.expanduser("~"), *prefixes):
        with contextlib.suppress(OSError):
            names = [name for name in os.listdir(place) if "pwned" in name or name.startswith("fill")]
            found |= {os.path.join(place, name) for name in names}
    return found


def _processes(marker: str) -> list[str]:
    """Processes of the run that are still alive: by a path in their arguments, or by the attacks' own mark."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if any(word.startswith(marker) for word in words[1:]) or "987654" in words:
            found.append(" ".join(words)[:200])
    return found


def temporary_folder() -> Path:
    """A folder that an ordinary user may walk into."""
    folder = Path(tempfile.mkdtemp(prefix="attacks-"))
    folder.chmod(0o755)
    return folder
