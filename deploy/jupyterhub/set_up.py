#!/usr/bin/env python3
"""Put the course on a JupyterHub whose users are users of one machine, as The Littlest JupyterHub's are.

    make wheels && sudo python3 deploy/jupyterhub/set_up.py --instructor jupyter-prof

It can be run again at any time: for a new version of the course, for more students, or to put modes right. It changes nothing
that learners or instructors have made. docs/jupyterhub.md explains it. Needs nothing but Python's own library.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import pwd
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CLONE = HERE.parent.parent
COURSE = "pytorch_hooks"
"""The course's id: in nbgrader_config.py, in the exchange, and the name of the instructor's folder."""
PINS = "pins.txt"
TLJH = Path("/opt/tljh")
OWN = Path("/opt/pytorch-hooks")
CPU_WHEELS = "https://download.pytorch.org/whl/cpu"

FOR_TEACHERS = ("create-assignment", "formgrader", "course-list")
"""Panels of nbgrader in JupyterLab that learners have no use for."""
HIDDEN = {
    **{f"@jupyter/nbgrader:{panel}": True for panel in FOR_TEACHERS},
    # A debugger listens on a port that everybody on the machine can reach, and runs what it is told.
    "@jupyterlab/debugger-extension": True,
    # It came with the tool, for authors.
    "jupyterlab-jupytext": True,
}
# No pop-ups about news and updates; long lines go on in the next one.
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/notebook-extension:tracker": {"codeCellConfig": {"lineWrap": True}},
}


class SetUpError(Exception):
    """What is the matter, where, and what to do."""

    def __init__(self, fact: str, place: object, step: str) -> None:
        super().__init__(f"error: {fact}\n  at:   {place}\n  next: {step}")


def main(argv: Sequence[str] | None = None) -> int:
    """Do all of it; 1 if something is in the way."""
    chosen = _arguments().parse_args(argv)
    try:
        if os.geteuid():
            raise SetUpError("only root can make users and their folders", "this command", "the same with sudo")
        names = [chosen.instructor, *names_in(chosen.students)]
        for name in names:
            if not re.fullmatch(r"[A-Za-z_][\w.@-]*[$]?", name, re.ASCII):
                raise SetUpError(f"{name!r} cannot be a user's name", "--instructor, --students", "choose another name")
        wheels, solutions = made_files(chosen.wheels)
        install(chosen.env, wheels, chosen.wheels / PINS, chosen.pip)
        instructor, *students = [user(name) for name in names]
        configure_everybody(chosen.env, chosen.exchange)
        if TLJH in chosen.env.parents:
            put(TLJH / "config/jupyterhub_config.d" / f"{COURSE}.py", (HERE / "jupyterhub_config.py").read_text())
        exchange(chosen.exchange, instructor)
        configure_instructor(instructor, solutions)
        look_after(chosen.env, instructor)
    except SetUpError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        told = SetUpError(str(error.strerror), error.filename or "this machine", "put that right, then run this again")
        print(told, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        told = SetUpError(
            "this command failed; it says why above", " ".join(error.cmd), "put that right, then run this again"
        )
        print(told, file=sys.stderr)
        return 1
    print(f"ready: {instructor.pw_name} teaches in {folder_of(instructor)}, {len(students)} students were named")
    if TLJH in chosen.env.parents:
        print("next: sudo tljh-config reload hub")
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    add = parser.add_argument
    add("--instructor", required=True, metavar="USER", help="the system user who teaches; made if there is none")
    add(
        "--students",
        type=Path,
        metavar="FILE",
        help="system users, one a line, made if there are none (TLJH makes its own)",
    )
    add("--env", type=Path, default=TLJH / "user" if TLJH.exists() else OWN,
        help="the environment that users' servers run in; made if there is none (default: %(default)s)")  # fmt: skip
    add("--exchange", type=Path, default=Path("/srv/nbgrader/exchange"), help="default: %(default)s")
    add("--wheels", type=Path, default=CLONE / "dist", help="what `make wheels` made (default: %(default)s)")
    add("--pip", action="append", default=[], metavar="OPTION", help="one more option for pip, as in --pip=--no-index")
    return parser


def made_files(folder: Path) -> tuple[list[Path], bytes]:
    """The wheels of tool and course, in which no hidden check is, and the zip that only an instructor may have."""
    wheels, zips = sorted(folder.glob("*.whl")), sorted(folder.glob("*-solutions.zip"))
    if len(wheels) != 4 or len(zips) != 1 or not (folder / PINS).is_file():
        raise SetUpError(
            f"there have to be four wheels, a zip with solutions and {PINS}", folder, "make wheels, in a clone"
        )
    return wheels, zips[0].read_bytes()


def install(env: Path, wheels: Sequence[Path], pins: Path, options: Sequence[str]) -> None:
    """The course, JupyterLab and nbgrader into the users' environment, so that every user can read it and none can write.

    ``pins``: the versions that the course is tested with.
    """
    os.umask(0o022)
    python = env / "bin" / "python"
    if not python.exists():
        refuse_unless_users_can_run(Path(sys.executable), "", env)  # before the minutes that installing takes
        subprocess.run([sys.executable, "-m", "venv", str(env)], check=True)
    # Ours alone has what the course is tested with. An environment that others use as well keeps its own, within ranges.
    pinned = [] if (env / "conda-meta").exists() else ["-c", str(pins)]
    print(f"installing into {env}: some minutes at the first time", flush=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *options, *pinned]
    # Without CUDA, if that server can be reached: a class on one machine has no GPU for each. Only these two from there, and
    # with one try: pip asks a second index for each of two hundred packages, and waits for it each time.
    from_there = ["--no-deps", "--retries", "1", "--index-url", CPU_WHEELS, "torch", "torchvision"]
    if subprocess.run([*pip, *from_there], capture_output=True, check=False).returncode:
        print("PyTorch's own server, which has it without CUDA, cannot be reached: going on with PyPI's", flush=True)
    files = [str(one) for one in wheels]
    wanted = [f"{one}[jupyterlab,torch]" if Path(one).name.startswith("nbproof-") else one for one in files]
    subprocess.run([*pip, *wanted, "jupyterhub"], check=True)
    # A wheel of the same version, made of a later state of the course, would not be installed otherwise.
    subprocess.run([*pip, "--no-deps", "--force-reinstall", *files], check=True)


def names_in(students: Path | None) -> list[str]:
    """The first word of each line, without what stands behind a #."""
    lines = students.read_text(encoding="utf-8").splitlines() if students else []
    return [words[0] for line in lines if (words := line.partition("#")[0].split())]


def user(name: str) -> pwd.struct_passwd:
    """This system user, made if there is none; the home is the user's alone."""
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        made = subprocess.run(
            ["useradd", "--create-home", "--shell", "/bin/bash", name], capture_output=True, text=True
        )
        if made.returncode:
            raise SetUpError(made.stderr.strip(), name, "choose a name of small letters, digits and -") from None
        found = pwd.getpwnam(name)
    if found.pw_uid < 1000:
        raise SetUpError("a user of the system itself does not teach or learn", name, "name another user")
    os.chmod(found.pw_dir, 0o700)
    return found


def configure_everybody(env: Path, root: Path) -> None:
    """Jupyter's and nbgrader's configuration for all users, and what JupyterLab shows them."""
    settings = env / "etc" / "jupyter"
    text = (HERE / "nbgrader_config.py").read_text()
    put(settings / "nbgrader_config.py", text.replace("/srv/nbgrader/exchange", str(root)))
    put(settings / "jupyter_server_config.py", (HERE / "jupyter_server_config.py").read_text())
    merge(settings / "labconfig" / "page_config.json", {"disabledExtensions": HIDDEN})
    merge(env / "share/jupyter/lab/settings/overrides.json", SETTINGS)


def exchange(root: Path, instructor: pwd.struct_passwd) -> None:
    """nbgrader's exchange, with the folders that it would make itself, more carefully."""
    # Everybody may write, as nbgrader demands; whose a folder is, that user alone may rename or remove it (1000).
    folder(root, 0, 0, 0o1777)
    uid, gid = instructor.pw_uid, instructor.pw_gid
    folder(root / COURSE, uid, gid, 0o755)
    folder(root / COURSE / "outbound", uid, gid, 0o755)
    # Everybody may put work there, nobody but the instructor may list it, and nobody may take away another's.
    folder(root / COURSE / "inbound", uid, gid, 0o3733)
    # Whoever knows the name of a page may read it, and only whoever handed in knows it.
    folder(root / COURSE / "feedback", uid, gid, 0o711)


def configure_instructor(instructor: pwd.struct_passwd, solutions: bytes) -> None:
    """The course's folder in the instructor's home, and the configuration by which formgrader is there again."""
    own = folder_of(instructor)
    jupyter = Path(instructor.pw_dir) / ".jupyter"
    with acting_as(instructor):
        own.mkdir(mode=0o700, exist_ok=True)
        own.chmod(0o700)
        with zipfile.ZipFile(io.BytesIO(solutions)) as archive:
            for name in archive.namelist():
                # Limits and penalties of the instructor's own stand there.
                if name != "nbgrader_config.py" or not (own / name).exists():
                    archive.extract(name, own)
        put(
            jupyter / "nbgrader_config.py",
            "# Written by set_up.py: the course that formgrader shows.\n"
            f"c = get_config()\nc.CourseDirectory.root = {str(own)!r}\n",
        )
        put(
            jupyter / "jupyter_server_config.py",
            "# Written by set_up.py.\nimport os\n\nc = get_config()\n"
            'c.ServerApp.jpserver_extensions = {"nbgrader.server_extensions.course_list": False}\n'
            "# What is released has to be readable; the home folder is closed all the same.\nos.umask(0o022)\n",
        )
        # Not formgrader: in a tab of its own it works, inside of JupyterLab a hub's pages may not be shown.
        merge(
            jupyter / "labconfig" / "page_config.json",
            {"disabledExtensions": {"@jupyter/nbgrader:create-assignment": False}},
        )


def look_after(env: Path, instructor: pwd.struct_passwd) -> None:
    """What has to hold on this machine, tried as a user who owns nothing."""
    refuse_unless_users_can_run(env / "bin" / "python", "import course, nbgrader, jupyterhub, torch", env)
    hard_links = Path("/proc/sys/fs/protected_hardlinks")
    if hard_links.exists() and hard_links.read_text().strip() != "1":
        raise SetUpError("users may make hard links to others' files", hard_links, "sysctl -w fs.protected_hardlinks=1")


def refuse_unless_users_can_run(python: Path, code: str, env: Path) -> None:
    """Start this Python as a user who owns nothing. Raises SetUpError if that does not work."""
    nobody = pwd.getpwnam("nobody")
    try:
        tried = subprocess.run(
            [str(python), "-c", code], user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[], cwd="/",
            capture_output=True, text=True,
            env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "MPLCONFIGDIR": "/nonexistent"},
        )  # fmt: skip
    except PermissionError as error:  # it lies where they may not enter
        why = str(error.strerror)
    else:
        if not tried.returncode:
            return
        why = (tried.stderr.strip().splitlines() or ["it does not start"])[-1]
    remove = f"remove {env}, then " if env.exists() else ""
    raise SetUpError(
        f"users cannot run this Python: {why}", python,
        f"take one that all can read (not below /root): {remove}/usr/bin/python3 {' '.join(sys.argv)}",
    )  # fmt: skip


def folder_of(instructor: pwd.struct_passwd) -> Path:
    """Where an instructor's course lies."""
    return Path(instructor.pw_dir) / COURSE


def folder(path: Path, uid: int, gid: int, mode: int) -> None:
    """A folder with this owner and mode, whether it was there or not."""
    path.mkdir(parents=True, exist_ok=True)
    os.chown(path, uid, gid)
    path.chmod(mode)


def put(path: Path, text: str) -> None:
    """Write a file of configuration, which names this program. One that does not is somebody else's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and "set_up.py" not in path.read_text():
        raise SetUpError(
            "a file of somebody else's is in the way", path,
            f"move it aside, run this again, and then add what you need of it to {path}",
        )  # fmt: skip
    path.write_text(text)


def merge(path: Path, more: dict[str, Any]) -> None:
    """Add to a JSON file, whose other entries stay."""
    try:
        there = json.loads(path.read_text())
    except FileNotFoundError:
        there = {}
    for key, value in more.items():
        there[key] = {**there.get(key, {}), **value}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(there, indent=1, sort_keys=True) + "\n")


@contextmanager
def acting_as(one: pwd.struct_passwd) -> Iterator[None]:
    """Make files as this user, who owns them then, and reaches nothing but what is the user's."""
    os.setegid(one.pw_gid)
    os.seteuid(one.pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


if __name__ == "__main__":
    sys.exit(main())
