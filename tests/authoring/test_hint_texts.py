"""Hints are written beside what they are about, and derived for the package: every fault is told with its file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tiny import Sketch, write_lesson

from nbproof.authoring.build import build
from nbproof.authoring.hint_texts import derived_hints, place_of
from nbproof.authoring.lesson import find_lessons, read_lesson
from nbproof.authoring.release import check_release
from nbproof.command import course_command
from nbproof.errors import HintError, Violation

ROOT = Path(__file__).parent.parent.parent
STEPS = 'question = "q?"\nidea = "i."\nread = "r"\n'
WAY_IN = f"[way_in]\n{STEPS}"


def hint(key: str) -> str:
    return f'[{key}]\nname = "n"\n{STEPS}'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = write_lesson(tmp_path, "00_tiny", [Sketch(hints=f"{WAY_IN}\n{hint('mine')}"), Sketch("again")])
    (folder / "hints.toml").write_text(hint("ours"))
    (tmp_path / "lessons" / "hints.toml").write_text(f"# Of all.\n{hint('everybodys')}")
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "__init__.py").write_text("")
    return tmp_path


def test_hints_of_all_three_places_are_gathered(root: Path) -> None:
    found = json.loads(derived_hints(root))
    assert [one["id"] for one in found["misconceptions"]] == ["everybodys", "mine", "ours"]
    assert found["misconceptions"][1] == {"id": "mine", "name": "n", "question": "q?", "idea": "i.", "read": "r"}
    assert found["exercises"] == [{"id": "catch", "question": "q?", "idea": "i.", "read": "r"}]
    lessons = root / "lessons"
    assert place_of(root, "everybodys") == f"{lessons / 'hints.toml'}:2"
    assert place_of(root, "ours") == f"{lessons / '00_tiny' / 'hints.toml'}:1"
    assert place_of(root, "catch") == f"{lessons / '00_tiny' / 'catch' / 'hints.toml'}:1"
    assert place_of(root, "mine") == f"{lessons / '00_tiny' / 'catch' / 'hints.toml'}:6"
    assert place_of(root, "nowhere") == str(lessons)


def test_a_build_derives_them_and_a_check_sees_where_it_has_not(root: Path) -> None:
    derived = root / "course" / "hints.json"
    assert derived in build(root, say=lambda line: None)
    assert build(root, say=lambda line: None) == []
    lessons = [read_lesson(folder) for folder in find_lessons(root)]
    assert check_release(root, lessons) == []
    path = root / "lessons" / "hints.toml"
    path.write_text(path.read_text().replace("i.", "another idea."))
    assert check_release(root, lessons) == [
        Violation("course/hints.json is outdated", str(derived), course_command("build"))
    ]
    assert build(root, say=lambda line: None) == [derived]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ('[x]\nname = "n"\nquestion = "q?"\nidea = "i."', "the hint 'x' has no 'read'"),
        (hint("x").replace('"n"', "5"), "the hint 'x' has no 'name'"),
        ("x = 5", "the hint 'x' has no 'name'"),
        ("[x]\nname = n", "the file is no TOML: "),
        (hint("everybodys"), "the hint 'everybodys' is defined twice"),
        ('[way_in]\nidea = "i."', "the hint 'way_in' has no 'question'"),
    ],
)
def test_an_incomplete_or_repeated_hint_is_refused_with_its_file(text: str, fact: str, root: Path) -> None:
    path = root / "lessons" / "00_tiny" / "again" / "hints.toml"
    path.write_text(text)
    with pytest.raises(HintError) as caught:
        build(root, say=lambda line: None)
    assert caught.value.fact.startswith(fact)
    assert caught.value.place.startswith(str(path))
    assert caught.value.next_command


def test_a_way_in_leads_into_an_exercise(root: Path) -> None:
    path = root / "lessons" / "00_tiny" / "hints.toml"
    path.write_text(WAY_IN)
    with pytest.raises(HintError, match="a way in, and no exercise that it leads into"):
        derived_hints(root)


def test_the_hints_of_this_course_are_derived() -> None:
    assert (ROOT / "course" / "hints.json").read_text(encoding="utf-8") == derived_hints(ROOT)
