"""Set up .venv, in which the course runs: ``python3 install.py``, on Linux, macOS and Windows, with nothing installed.

``make`` calls this as well. What fails is said in a sentence: the fact, the place, what to do next; all that pip said is
kept in a file. It runs again as often as you like, and mends what an earlier run left half done. It is written so that old
versions of Python can read it, too: they are told which version is needed.
"""

import argparse
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
VENV = os.path.join(HERE, ".venv")
PYTHON = os.path.join(VENV, "Scripts", "python.exe") if os.name == "nt" else os.path.join(VENV, "bin", "python")
LOG = os.path.join(VENV, "install.log")
UNFINISHED = os.path.join(VENV, ".unfinished")
"""Is there while pip writes packages: whoever finds it knows that some may be half there."""
STAMPS = {"use": ".for-use", "development": ".for-development"}
"""What is complete in .venv; each holds the folder that it was made in, for an environment cannot be moved."""

OLDEST, NEWEST = (3, 11), (3, 14)
"""The versions of Python that PyTorch's wheels serve, and all else that constraints.txt pins."""
REFUSED = (3, 14, 1)
"""torchvision's own word."""

CPU_WHEELS = "https://download.pytorch.org/whl/cpu"
LEAST_FREE = 1500 * 1000**2
"""Bytes that .venv takes at least."""
LARGE = 15.0
"""MB from which on a download is told by name."""


class SetupError(Exception):
    """What is wrong, where, and what to do now."""

    def __init__(self, fact: str, place: str, then: str) -> None:
        super().__init__(fact)
        self.lines = ["error: " + fact, "  at:   " + place, "  next: " + then]


def main() -> int:
    """Exit code 0: .venv is complete; 1: it is not, and why is said; 2: wrong usage; 130: interrupted."""
    parser = argparse.ArgumentParser(prog="install.py", description="Set up .venv, in which the course runs.")
    parser.add_argument("--torch", choices=("default", "cpu"), default="default", help="cpu: PyTorch without CUDA, "
                        "0.4 GB to download instead of 2.9 GB; makes a difference on Linux only")  # fmt: skip
    parser.add_argument(
        "--development", action="store_true", help="also install what tests and checks of style and types need"
    )
    parser.add_argument("--again", default="", help=argparse.SUPPRESS)  # the command that called this one
    chosen = parser.parse_args()
    again = chosen.again or " ".join([os.path.basename(sys.executable), os.path.relpath(__file__), *sys.argv[1:]])
    try:
        try:
            use_a_python_that_serves(again)
            set_up(chosen.torch, chosen.development, again)
        except OSError as error:  # of a disk that is full, or closed to this user, in any file that is written
            raise in_words(str(error), again) from None
    except SetupError as error:
        print("\n".join(error.lines), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\ninterrupted; to go on: {again}", file=sys.stderr)
        return 130
    if not chosen.again:
        print(f"ready; next: {os.path.relpath(PYTHON)} -m course lab")
    return 0


def use_a_python_that_serves(again: str) -> None:
    """Return if this Python is such a one; otherwise go on in one that is. Raises SetupError if there is none."""
    version, found = sys.version_info[:3], ".".join(str(part) for part in sys.version_info[:3])
    if OLDEST <= version[:2] <= NEWEST and version != REFUSED:
        return
    if os.path.exists(PYTHON) and not what_is_broken():
        return  # .venv has a Python of its own already
    wanted = f"Python 3.{OLDEST[1]} to 3.{NEWEST[1]}"
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        other = shutil.which(f"python3.{minor}")
        if other and answers([other, "-c", "import sys, venv; sys.exit(sys.version_info[:3] == (3, 14, 1))"]):
            print(f"this is Python {found}, and {wanted} is needed: going on with {other}", flush=True)
            sys.exit(subprocess.call([other, os.path.realpath(__file__), *sys.argv[1:]]))
    refused = ", which torchvision does not take" if version == REFUSED else ""
    by_make = again.startswith("make")
    using, with_it = ("", " PYTHON=/path/to/python3.12") if by_make else (", with that Python", "")
    raise SetupError(
        f"{wanted} is needed, and this is {found}{refused}", sys.executable or "python3",
        f"install one of them (python.org, or your system's packages), then{using}: {again}{with_it}",
    )  # fmt: skip


def set_up(torch: str, development: bool, again: str) -> None:
    """Bring .venv to what the requirements say. Raises SetupError."""
    if not make_environment(torch, again):
        print("looking whether .venv holds all that the requirements name", flush=True)
    requirements = "requirements-dev.txt" if development else "requirements.txt"
    command = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]
    # Python compiles what it imports, once; pip would compile every file of every package, for half a minute. Where Python
    # is told to keep nothing that it compiles (PYTHONDONTWRITEBYTECODE), each start would compile torch anew, for 5 s.
    if not sys.dont_write_bytecode:
        command.append("--no-compile")
    if torch == "cpu" and sys.platform.startswith("linux"):
        # Only these two from there: what is installed already is not looked for again. One try: not everybody reaches it.
        with open(os.path.join(HERE, "requirements.txt"), encoding="utf-8") as file:
            two = [line.strip() for line in file if re.match(r"torch(vision)?==", line)]
        if run_pip([*command, "--no-deps", "--retries", "1", "--index-url", CPU_WHEELS, *two]) is not None:
            print(
                "  PyTorch's own server, which has it without CUDA, cannot be reached: going on with PyPI's", flush=True
            )
    said = run_pip([*command, "-r", os.path.join(HERE, requirements)])
    if said is not None:
        raise in_words(said, again)
    for purpose in ("use", "development") if development else ("use",):
        stamp = os.path.join(VENV, STAMPS[purpose])
        with open(stamp + ".new", "w", encoding="utf-8") as file:
            file.write(HERE + "\n")
        os.replace(stamp + ".new", stamp)


def tell_sizes(torch: str, again: str) -> None:
    """What it will take, before it begins."""
    if torch == "cpu" or not sys.platform.startswith("linux"):
        print("  to download: about 0.4 GB; on disk: about 1.5 GB", flush=True)
        return
    print(
        "  with CUDA, as PyPI's PyTorch for Linux has it: 2.9 GB to download, about 6 GB on disk\n"
        f"  without: 0.4 GB to download, about 1.5 GB on disk; for that, Ctrl-C, then: {without_cuda(again)}",
        flush=True,
    )


def without_cuda(again: str) -> str:
    """The same command, for PyTorch without CUDA."""
    return again + (" TORCH=cpu" if again.startswith("make") else " --torch cpu")


def make_environment(torch: str, again: str) -> bool:
    """An environment that works; whether it was made just now, which is said first. Raises SetupError."""
    if os.path.lexists(VENV):
        broken = what_is_broken()
        if not broken:
            return False
        print("making .venv anew: " + broken, flush=True)
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        raise no_venv_module(again)
    try:
        if os.path.islink(VENV) or os.path.isfile(VENV):
            os.unlink(VENV)
        elif os.path.isdir(VENV):
            shutil.rmtree(VENV)
        free = shutil.disk_usage(HERE).free
    except OSError as error:
        raise closed(f": {error.strerror}", VENV, again) from None
    if free < LEAST_FREE:
        raise no_space(again)
    print(
        f"setting up .venv with {sys.executable} ({sys.version.split()[0]}): once, it takes a few minutes", flush=True
    )
    tell_sizes(torch, again)
    made = subprocess.run(
        [sys.executable, "-m", "venv", VENV], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(),
        check=False,
    )  # fmt: skip
    if made.returncode:
        shutil.rmtree(VENV, ignore_errors=True)
        raise in_words(made.stdout.decode(errors="replace"), again)
    return True


def what_is_broken() -> str:
    """Why .venv cannot be used; empty if it can."""
    if os.path.exists(UNFINISHED):
        return "an earlier set-up was cut off while it wrote packages"
    made_in = ""
    for name in STAMPS.values():
        try:
            with open(os.path.join(VENV, name), encoding="utf-8") as file:
                made_in = made_in or file.read().strip()
        except (OSError, ValueError):
            continue
    if made_in and made_in != HERE:
        return "it was made in " + made_in + ", and cannot be moved"
    works = (
        f"import pip, sys; sys.exit(sys.prefix == sys.base_prefix or not {OLDEST} <= sys.version_info[:2] <= {NEWEST})"
    )
    if not answers([PYTHON, "-c", works]):
        return "an earlier set-up was cut off, or its Python is gone, or of another version than the course needs"
    return ""


def answers(command: "list[str]") -> bool:
    """Whether this program runs and succeeds."""
    try:
        return subprocess.call(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def environment() -> "dict[str, str]":
    """This one, less what would lead Python or pip out of .venv."""
    misleading = ("PYTHONHOME", "PYTHONPATH", "PIP_TARGET", "PIP_PREFIX")
    kept = {name: value for name, value in os.environ.items() if name not in misleading}
    kept.update(PIP_USER="0", PYTHONUNBUFFERED="1", PYTHONIOENCODING="utf-8")
    return kept


def run_pip(command: "list[str]") -> "str | None":
    """Run pip, and say how far it is; None if it succeeded, otherwise what it said."""
    telling = Telling()
    said = []
    try:
        with open(LOG, "w", encoding="utf-8") as log:
            pip = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(), cwd=HERE,
                universal_newlines=True, encoding="utf-8", errors="replace",
            )  # fmt: skip
            assert pip.stdout is not None
            try:
                for line in pip.stdout:
                    log.write(line)
                    said.append(line)
                    if line.startswith("Installing collected packages"):
                        with open(UNFINISHED, "w", encoding="utf-8"):
                            pass
                    telling.hear(line)
                code = pip.wait()
            except BaseException:
                pip.terminate()
                pip.wait()
                raise
    except OSError as error:
        return "\n".join([*said, str(error)])
    finally:
        telling.end()
    if code == 0 and os.path.exists(UNFINISHED):
        os.unlink(UNFINISHED)
    return None if code == 0 else "".join(said)


class Telling:
    """Says what pip is doing: in a terminal on one line that changes, elsewhere only what takes long."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.packages = 0
        self.waiting = False
        self.alive = sys.stdout.isatty()

    def hear(self, line: str) -> None:
        """One line of pip's."""
        words = line.split()
        if words[:1] == ["Collecting"] and len(words) > 1:
            self.packages += 1
            self.show(f"package {self.packages}: " + re.split(r"[<>=!~;\[]", words[1])[0])
        size = re.match(r"\s*Downloading (\S+) \(([\d.]+) MB\)", line)
        if size and float(size.group(2)) >= LARGE:
            name = size.group(1).split("/")[-1].split("-")[0]
            self.show(f"downloading {name}, {size.group(2)} MB", lasting=True)
        if line.startswith("Installing collected packages"):
            packages = line.count(",") + 1
            self.show(
                f"writing {packages} package{'s' * (packages > 1)}" + ": a minute or two" * (packages > 30),
                lasting=True,
            )
        if "connection broken by" in line:
            self.show("the network does not answer; trying again for a while", lasting=not self.waiting)
            self.waiting = True

    def show(self, text: str, lasting: bool = False) -> None:
        """In a terminal always; elsewhere if it is to last."""
        if self.alive:
            seconds = time.monotonic() - self.started
            print(f"\r\033[K  {seconds:3.0f} s  {text[:60]}", end="\n" if lasting else "", flush=True)
        elif lasting:
            print("  " + text, flush=True)

    def end(self) -> None:
        """Leave the terminal's line clean."""
        if self.alive:
            print("\r\033[K", end="", flush=True)


OFFLINE = (
    r"NewConnectionError|ConnectTimeoutError|ReadTimeoutError|Read timed out|ProxyError|Network is unreachable|"
    r"NameResolutionError|name resolution|getaddrinfo failed|nodename nor servname|RemoteDisconnected|"
    r"Connection (?:reset|refused|aborted)"
)
FULL = r"No space left on device|not enough space|Disk quota exceeded|Errno 28\b|Errno 122\b"
CLOSED = r"Permission denied|Access is denied|Read-only file system|Errno (?:13|30)\b"


def in_words(said: str, again: str) -> SetupError:
    """What venv or pip said when it failed, as a sentence with a next step."""
    kept = "all that pip said: " + LOG if os.path.exists(LOG) else VENV
    if re.search(FULL, said):
        return no_space(again)
    if re.search(r"ensurepip|python3[.\d]*-venv", said):
        return no_venv_module(again)
    if re.search(CLOSED, said):
        return closed("", kept, again)
    if re.search(r"CERTIFICATE_VERIFY_FAILED|SSLError|SSLCertVerificationError", said):
        return SetupError(
            "the certificate of the package server is not trusted here, as behind a company's proxy", kept,
            "set PIP_CERT to your organisation's certificate file, then: " + again,
        )  # fmt: skip
    if re.search(OFFLINE, said):
        return SetupError(
            "the packages cannot be downloaded: there is no network, or it blocks Python's package index", kept,
            "connect, or set HTTPS_PROXY, then: " + again + " (what was downloaded is kept)",
        )  # fmt: skip
    missing = re.search(r"No matching distribution found for (\S+)", said)
    if missing:
        machine = f"Python {sys.version.split()[0]} on {sys.platform}, {platform.machine()}"
        return SetupError(
            f"{missing.group(1)} is not available for this machine ({machine})", kept,
            "take a 64-bit Python from python.org (on Linux one with glibc), and check that pip's index has it; then: " + again,
        )  # fmt: skip
    last = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith(("WARNING", "[notice]"))]
    errors = [line for line in last if line.lower().startswith("error")] or last or ["no word from pip"]
    return SetupError("the set-up failed: " + errors[-1][:200], kept, "read that file; then: " + again)


def closed(why: str, place: str, again: str) -> SetupError:
    """A folder in which this user may not write."""
    return SetupError(f".venv cannot be written{why}", place, f"let your user write in {HERE}, then: {again}")


def no_space(again: str) -> SetupError:
    """A disk that is too small; if CUDA may be why, the way without it."""
    free = shutil.disk_usage(HERE).free / 1000**3
    smaller = sys.platform.startswith("linux") and not re.search("torch[ =]cpu", again, re.IGNORECASE)
    return SetupError(
        f"there is not enough space on the disk: {free:.1f} GB free, 1.5 GB needed, with CUDA 6 GB",
        f"{VENV}, or {tempfile.gettempdir()}, where pip unpacks",
        f"make room, or name a larger disk in TMPDIR, then: {without_cuda(again) if smaller else again}",
    )


def no_venv_module(again: str) -> SetupError:
    """A Python of a system that puts venv in a package of its own, as Debian does."""
    package = f"python3.{sys.version_info[1]}-venv"
    cure = (
        f"sudo apt install {package}"
        if shutil.which("apt-get")
        else "install all of Python, from python.org for example"
    )
    return SetupError(
        "this Python cannot make environments: its module venv or ensurepip is missing", sys.executable,
        f"{cure}; then: {again}",
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
