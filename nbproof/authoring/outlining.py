"""Derive ``course/outline.json``: what help and progress know of the lessons."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

from nbproof.authoring.derived import beside_the_course, write_where_it_differs
from nbproof.authoring.lesson import Exercise, Lesson
from nbproof.authoring.stated import heading_of
from nbproof.display.outline import fingerprint
from nbproof.regions import stub_of, visible_of

__all__ = ["outline_of", "read_outline", "write_outline"]

_NAME = "outline.json"


def outline_of(lesson: Lesson) -> dict[str, Any]:
    """One lesson's part of the outline, as JSON-able data."""
    opening = lesson.cells[0].source
    title = next((line[2:].strip() for line in opening.splitlines() if line.startswith("# ")), lesson.slug)
    return {"title": title, "exercises": [_outlined(lesson, exercise) for exercise in lesson.exercises]}


def _outlined(lesson: Lesson, exercise: Exercise) -> dict[str, Any]:
    heading = heading_of(lesson, exercise)
    return {
        "id": exercise.id,
        "title": heading.title.replace("`", "") if heading else exercise.id.replace("_", " "),
        "difficulty": heading.difficulty if heading else "",
        "minutes": heading.minutes if heading else 0,
        "points": exercise.points,
        "cells": [_checks_in(visible_of(cell.source)) for cell in exercise.tests],
        "hidden": [len(_checks_in(cell.source)) - len(_checks_in(visible_of(cell.source))) for cell in exercise.tests],
        "stub": fingerprint(stub_of(exercise.answer.source)),
    }


def _checks_in(source: str) -> list[str]:
    """The classes that the text of a test cell hands to ``check``."""
    return [
        argument.id
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check"
        for argument in node.args[1:]
        if isinstance(argument, ast.Name)
    ]


def read_outline(root: Path) -> dict[str, Any]:
    """The outline as it is written down; empty where it is missing or damaged."""
    try:
        return dict(json.loads(beside_the_course(root, _NAME).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def write_outline(root: Path, lessons: list[Lesson], slugs: list[str]) -> Path | None:
    """Bring the outline up to date for ``lessons``; ``slugs`` are all there are. The path where it changed."""
    path = beside_the_course(root, _NAME)
    fresh = {slug: part for slug, part in read_outline(root).items() if slug in slugs}
    fresh |= {lesson.slug: outline_of(lesson) for lesson in lessons}
    text = json.dumps(fresh, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    return path if write_where_it_differs(text, path) else None
