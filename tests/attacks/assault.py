"""A class of attackers and honest neighbours in a temporary course: built, graded, and looked at afterwards."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import resource
import secrets
import select
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import psutil

from nbproof.cells import BEGIN_HIDDEN
from nbproof.run.journal import RunState, problems_of
from nbproof.testing import Rehearsal
from nbproof.values.results import Outcome as Ended
from nbproof.values.words import ENGLISH
from tests import without_demonstrations
from tests.attacks.adopted import adopt_into
from tests.attacks.arsenal import HONEST, LESSON, Attack, Scene
from tests.cluster.machines import machines

REPO = Path(__file__).resolve().parents[2]
SEED = 424242
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


@dataclass(frozen=True)
class Outcome:
    """What a run left behind."""

    root: Path
    attacks: Sequence[Attack]
    scores: dict[str, float]
    """Learner -> marks, as nbgrader's gradebook has them."""
    problems: dict[str, str]
    """Learner -> why nothing was graded."""
    verdicts: dict[str, dict[str, Any]]
    """By learner: the journalled verdict; missing where nothing was graded."""
    heard: list[str]
    """What arrived at the listeners."""
    left: list[str]
    """Processes and files that should not be there."""
    output: str
    peak_mb: float

    def exercise(self, learner: str, name: str) -> dict[str, Any]:
        """The verdict on one exercise, with its score and what the learner is told."""
        found: dict[str, Any] = next(one for one in self.verdicts[learner]["exercises"] if one["id"] == name)
        return {**found, "score": sum(found["points"].values()), "sentence": ENGLISH.outcome(Ended.from_dict(found))}

    def written(self, learner: str) -> Iterator[tuple[Path, bytes]]:
        """Every file that the run wrote for a learner."""
        for path in sorted((self.root / "autograded" / learner).rglob("*")):
            if path.is_file():
                yield path, path.read_bytes()


def canaries_in(data: bytes) -> set[str]:
    """The tokens in some bytes."""
    return {token.decode() for token in _TOKEN.findall(data)}


def build_course(root: Path, lessons: Sequence[str], tokens: dict[str, str], whole: bool) -> None:
    """A course with only these lessons, and canaries where a learner should not look.

    ``whole``: with every lesson's demonstrations; else :data:`LESSON` alone has its own, in which most attacks stand.
    """
    for part in ("source", "release", "lessons"):
        for lesson in lessons:
            ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
            shutil.copytree(REPO / part / lesson, root / part / lesson, ignore=ignored)
            if not whole and lesson != LESSON and part != "lessons":
                without_demonstrations(root / part / lesson / f"{lesson}.ipynb")
    for lesson in lessons:
        with Rehearsal(root, lesson).edited() as cells:
            for cell in cells.values():
                # In hidden truths: where only the judge has business.
                shown, mark, hidden = cell["source"].partition(BEGIN_HIDDEN)
                line = "def truth(self, case):\n"
                cell["source"] = shown + mark + hidden.replace(line, f"{line}        '{tokens['source']}'\n")


def hand_in(root: Path, targets: dict[str, Any], attacks: Sequence[Attack], neighbour: str) -> None:
    """Write the submissions of the attackers and of their neighbours, in whose cells this token stands."""

    @cache
    def released(lesson: str) -> Any:
        return json.loads((root / "release" / lesson / f"{lesson}.ipynb").read_text(encoding="utf-8"))

    for learner, answers in NEIGHBOURS.items():
        honest = Scene(root, targets, learner, LESSON, released(LESSON))
        honest.write(honest.notebook({name: f"# {neighbour}\n{text}" for name, text in answers.items()}))
    for attack in attacks:
        attack.build(Scene(root, targets, attack.name, attack.lesson, released(attack.lesson)))


@contextlib.contextmanager
def listeners(folder: Path) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Listeners on TCP, UDP, a Unix socket and an abstract one; yields how to reach them, and which were told the token.

    Other programs of this machine may try its ports: what does not say the token is theirs.
    """
    heard: list[str] = []
    path, token = str(folder / "listener.sock"), secrets.token_hex(8)
    name = f"course-listener-{token[:8]}"
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
            while (ready := select.select([*names], [], [], 0.2)[0]) or not stop.is_set():
                for one in ready:
                    with contextlib.suppress(OSError), one.dup() if one is udp else one.accept()[0] as line:
                        line.settimeout(1)
                        heard.extend([names[one]] if token.encode() in line.recv(65536) else [])

        thread = threading.Thread(target=listen)
        thread.start()
        stack.callback(thread.join)
        stack.callback(stop.set)
        ports = {"tcp": tcp.getsockname()[1], "udp": udp.getsockname()[1]}
        yield {**ports, "unix": path, "abstract": name, "token": token}, heard


ORDINARY = 1000
"""An ordinary user's id."""


class NotHere(Exception):
    """This machine does not let root become somebody else and reach the interpreter."""


def _as_ordinary(command: list[str]) -> list[str]:
    """What root types to run a command as an ordinary user; it ends with 77 where that is impossible.

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
    return ["unshare", "--mount", "sh", "-c", f"{' && '.join(steps)} || exit 77; {become}", "sh", *command]


def _commands(root: Path, lessons: Sequence[str], level: str, through: str) -> Iterator[list[str]]:
    """What the one who grades types, in the course."""
    if through != "autograde":
        demanded = ["--isolation", level] if level else []
        demanded += ["--pool", f"dask:{root.parent}/cluster/scheduler.json"] * (through == "dask")
        yield ["course", "grade", "--course", str(root), "--seed", str(SEED), "--workers=2", "--no-feedback", *demanded]
        return
    for lesson in lessons:
        # As if a run with this seed had been cut off.
        RunState(root, SEED).begin()
        yield ["nbgrader", "autograde", lesson, *([f"--Mark.isolation={level}"] if level else [])]


def _graded(commands: Iterable[list[str]], folder: Path, environment: dict[str, str], uid: int) -> str:
    """Run the commands as this user, who owns the folder; what they print. Raises NotHere."""
    said = ""
    for words in commands:
        command = [sys.executable, "-m", *words]
        if uid != os.geteuid():
            # Not os.walk: one submission is deeper than Python recurses.
            subprocess.run(["chown", "-R", "-h", f"{uid}:{uid}", str(folder)], check=True)
            command = _as_ordinary(command)
        how: dict[str, Any] = {"capture_output": True, "text": True, "errors": "replace", "timeout": 3600}
        ended = subprocess.run(command, env=environment, cwd=folder / "course", check=False, **how)
        if ended.returncode == 77 or ended.stderr.startswith("unshare:"):
            raise NotHere(f"this machine does not let root become an ordinary user here: {ended.stderr.strip()}")
        # 1: of somebody nothing could be graded.
        assert ended.returncode in (0, 1), f"{words} ended:\n{ended.stdout[-1500:]}\n{ended.stderr[-6000:]}"
        said += ended.stdout + ended.stderr
    return said


@contextlib.contextmanager
def assault(
    attacks: Sequence[Attack],
    *,
    level: str = "",
    through: str = "grade",
    ordinary: bool = False,
    whole: bool = False,
    adopted: bool = False,
) -> Iterator[Outcome]:
    """Grade all attackers and their neighbours in one run; what it left behind is there as long as the block.

    ``level``: of isolation, as the command line names it; the best where empty. ``through``: ``grade``, ``dask``, which is
    ``grade`` on two workers of a cluster, or ``autograde`` of nbgrader's. ``ordinary``: by an ordinary user, who owns the course; needs root. ``whole``: see :func:`build_course`.
    ``adopted``: the lesson is made of somebody's nbgrader notebook. Raises NotHere.
    """
    folder = Path(tempfile.mkdtemp(prefix="attacks-"))
    folder.chmod(0o755)  # an ordinary user may walk into it
    try:
        yield _assaulted(folder, attacks, level, through, ORDINARY if ordinary else os.geteuid(), whole, adopted)
    finally:
        # Whatever the attackers handed in.
        subprocess.run(["rm", "-rf", str(folder)], check=False)


def _assaulted(
    folder: Path, attacks: Sequence[Attack], level: str, through: str, uid: int, whole: bool, adopted: bool
) -> Outcome:
    names = ("source", "lessons", "gradebook", "neighbour", "home", "environment", "tmp", "shm")
    tokens = {name: f"CANARY-{secrets.token_hex(8)}-{name}" for name in names}
    lessons = sorted({LESSON, *(attack.lesson for attack in attacks)})
    root, home, scratch = (folder / name for name in ("course", "home", "tmp"))
    for made in (root, home / ".ssh", scratch):
        made.mkdir(parents=True)
    config = "c = get_config()\n" if adopted else (REPO / "nbgrader_config.py").read_text(encoding="utf-8")
    limits = "".join(f"c.GradingLimits.{name} = {value!r}\n" for name, value in LIMITS.items())
    (root / "nbgrader_config.py").write_text(f"{config}\n{limits}", encoding="utf-8")
    if adopted:
        adopt_into(root, tokens["source"])
    else:
        build_course(root, lessons, tokens, whole)
    places = [root / "gradebook_notes.txt", home / ".ssh" / "id_ed25519", home / ".bash_history"]
    places += [root / "lessons" / lesson / "lesson.py" for lesson in lessons]
    for place in places:
        kind = "lessons" if place.suffix == ".py" else "home" if home in place.parents else "gradebook"
        with place.open("a", encoding="utf-8") as file:
            file.write(f"# {tokens[kind]}\n")
    with contextlib.ExitStack() as stack:
        reach, heard = stack.enter_context(listeners(folder))
        for name, place in {"tmp": Path("/tmp"), "shm": Path("/dev/shm")}.items():
            canary = place / f"canary-{tokens[name][7:15]}.txt"
            canary.write_text(tokens[name])
            stack.callback(canary.unlink, missing_ok=True)
        whose = {} if uid == os.geteuid() else {"user": uid, "group": uid, "extra_groups": []}
        sleeper = subprocess.Popen(["sleep", "3600"], **whose)
        stack.callback(lambda: (sleeper.kill(), sleeper.wait()))
        hand_in(root, {"home": home, "victim": sleeper.pid, **reach}, attacks, tokens["neighbour"])
        before, state = _places(), _state(root)
        environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(home),
            "TMPDIR": str(scratch),
            "LANG": "C.UTF-8",
            "CANARY_VARIABLE": tokens["environment"],
            "PYTHONDONTWRITEBYTECODE": "1",
            "MPLCONFIGDIR": str(scratch / "mpl"),
        }
        if through == "dask":
            stack.enter_context(machines(folder / "cluster", "one", "two", env=environment))
        output = _graded(_commands(root, lessons, level, through), folder, environment, uid)
        left = [f"process {process}" for process in _processes(str(scratch))]
        left += [f"file {path}" for path in (*(_places() - before), *_marked_files(folder))]
        left += [f"changed {name}" for name in sorted(set(_state(root).items()) ^ set(state.items()))]
        if sleeper.poll() is not None:
            left.append("somebody else's process was killed")
    assert (root / "gradebook.db").stat().st_uid == uid
    verdicts = {}
    for path in sorted((root / "autograded").glob("*/*/.verdict.json")):
        verdicts[path.parent.parent.name] = json.loads(path.read_text(encoding="utf-8"))
    scores: dict[str, float] = {}
    with Rehearsal(root, LESSON).gradebook() as book:
        for lesson in lessons:
            scores |= {one.student.id: one.score for one in book.assignment_submissions(lesson)}
    problems = {key.learner: one.problem for key, one in problems_of(root).items()}
    peak_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return Outcome(root, attacks, scores, problems, verdicts, heard, left, output, peak_mb)


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
