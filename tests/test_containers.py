"""What containers are made from names only what is there: files, targets, options, versions."""

from __future__ import annotations

import json
import re
import shlex
import subprocess

import install
from nbproof.cli.main import course_parser
from tests import ROOT

DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text()
DEVCONTAINER = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())


def test_nothing_runs_as_root_and_what_is_run_is_there() -> None:
    user = DOCKERFILE.index("\nUSER learner")
    assert "RUN make" not in DOCKERFILE[:user] and "USER root" not in DOCKERFILE
    (command,) = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert json.loads(command) == [".venv/bin/python", "-m", "course", "lab", "--ip=0.0.0.0", "--no-browser"]
    targets = set(re.findall(r"^(\w+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for text in (DOCKERFILE, DEVCONTAINER["onCreateCommand"]):
        found = re.findall(r"make (\w+) TORCH=cpu", text)
        assert found and set(found) <= targets
    (line,) = (ROOT / ".binder" / "requirements.txt").read_text().splitlines()
    assert (ROOT / ".binder" / line.removeprefix("-r ")).resolve() == ROOT / "requirements.txt"


def test_the_image_has_a_python_that_the_course_takes() -> None:
    named = re.search(r"python:(\d+)\.(\d+)-", DEVCONTAINER["image"])
    binder = re.fullmatch(r"python-(\d+)\.(\d+)\n", (ROOT / ".binder" / "runtime.txt").read_text())
    for found in (named, binder):
        assert found is not None and install.OLDEST <= tuple(map(int, found.groups())) <= install.NEWEST


def test_what_is_left_out_of_the_image_is_what_a_clone_writes() -> None:
    left_out = set((ROOT / ".dockerignore").read_text().split())
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert {".venv", ".git", "submitted", "gradebook.db*"} <= left_out
    assert not [name for name in tracked if name.split("/")[0] in left_out]


def _docker_lines() -> list[list[str]]:
    text = (ROOT / "docs" / "engine.md").read_text(encoding="utf-8")
    return [shlex.split(line, comments=True) for line in re.findall(r"^docker .*$", text, re.MULTILINE)]


def test_each_step_of_a_whole_assignment_has_a_command_for_a_container() -> None:
    start = (ROOT / "docs" / "instructors.md").read_text(encoding="utf-8").partition("```\n")[2].partition("```")[0]
    asked = {shlex.split(line)[3] for line in start.splitlines()}
    runs = [words for words in _docker_lines() if words[1] == "run"]
    there = [words[words.index("hooks") + 4 :] for words in runs if "-m" in words]
    assert {words[0] for words in there} == asked and "formgrader" in asked
    for words in there:
        arguments, unknown = course_parser().parse_known_args(words)
        assert not unknown or arguments.chosen.passes_on, words


def test_a_container_is_named_as_it_is_built_keeps_its_volume_and_is_reached_from_this_machine_only() -> None:
    built, *runs = _docker_lines()
    assert built[1:] == ["build", "-f", "deploy/Dockerfile", "-t", "hooks", "."]
    for words in runs:
        image = words.index("hooks")
        options, inside = words[3:image], words[image + 1 :]
        assert words[:3] == ["docker", "run", "--rm"] and options[:2] == ["-v", "hooks:/course"]
        mounted = [options[at + 1].split(":")[1] for at, word in enumerate(options) if word == "-v"]
        served = "-p" in options
        assert served == (not inside or "formgrader" in inside)
        if served:
            assert options[options.index("-p") + 1] == "127.0.0.1:8888:8888"
            assert not inside or inside[-2:] == ["--ip=0.0.0.0", "--no-browser"]
        for path in (word for word in inside if word.startswith("/")):
            assert any(path.startswith(place) for place in mounted), path
