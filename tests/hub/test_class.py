"""A class on a real JupyterHub, from handing out to reading feedback: one instructor, three learners, one of them hostile.

`.venv/bin/python -m pytest tests/hub/test_class.py -m nightly`, as root, on a machine to throw away: it makes system users.
They, and all else, are taken away at the end. ``HOOKS_HUB`` spares downloads.
"""

from __future__ import annotations

import hashlib
import json
import os
import pwd
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from nbproof.authoring.secret_lines import text_of
from tests import the_lesson
from tests.browser.conftest import browser  # noqa: F401 (a fixture)
from tests.browser.people import hidden_lines
from tests.hub.machine import Hub, running_hub, why_no_hub
from tests.hub.member import Member

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(bool(why_no_hub()), reason=f"a class's hub is NOT tested: {why_no_hub()}"),
]

LESSON = the_lesson("01_module_anatomy")
SLUG = LESSON.slug
(QUESTION,) = LESSON.questions
POINTS = sum(exercise.points for exercise in LESSON.exercises)
RIGHT = {one.id: one.answer.source for one in LESSON.exercises}
WRITTEN = "Autograd follows what is computed, the optimizer what is registered."
FIRST, SECOND = LESSON.exercises[:2]
HERE = Path(__file__).parent

THIEF = """
import pathlib
found = []
for place in ("{course}/source", "{course}", "/home", "/opt"):
    try:
        # What lies in site-packages, such as nbgrader's own test files, everybody has.
        paths = [path for path in pathlib.Path(place).rglob("*.ipynb") if "site-packages" not in path.parts]
        found += [path.read_text()[:200] for path in paths]
    except OSError:
        pass
raise RuntimeError("gained: " + repr(found))
"""


@pytest.fixture
def members(browser: Any) -> Iterator[list[Member]]:  # noqa: F811
    """The instructor and three learners, each with a window of their own."""
    with running_hub() as hub:
        window = {"width": 1280, "height": 850}
        yield [Member(browser.new_page(viewport=window), hub, name) for name in (hub.teacher, *hub.learners)]


def test_a_class_from_handing_out_to_reading_feedback(members: list[Member]) -> None:
    prof, ada, ben, mallory = members
    hub = prof.hub
    for one in members:
        one.log_in()
    for learner in (ada, ben, mallory):
        _sees_nothing_of_teachers(learner)

    assert "Successfully released" in prof.press(SLUG, "release")
    _works(ada, RIGHT, right=True)
    _works(ben, {FIRST.id: FIRST.mutants[0].source}, right=False)
    assert _kernels_of(hub.learners) >= 2
    _attacks(mallory, hub)
    _works(mallory, {FIRST.id: THIEF.format(course=hub.course)}, right=False)

    said = prof.press(SLUG, "collect")
    assert "forged was made by" in said and "no date at all" in said and "it is not a folder" in said
    for learner in hub.learners:
        handed_in = hub.course / "submitted" / learner / SLUG
        mine = hub.home(learner) / SLUG / f"{SLUG}.ipynb"
        assert (handed_in / f"{SLUG}.ipynb").read_bytes() == mine.read_bytes()

    prof.in_a_terminal("cd ~/pytorch_hooks && hooks-course grade --json ../scores.json", "graded", 600)
    scores = json.loads((hub.home(hub.teacher) / "scores.json").read_text())
    got = {one["learner"]: one["score"] for one in scores["submissions"]}
    assert got == {hub.learners[0]: POINTS, hub.learners[1]: 0, hub.learners[2]: 0}

    desk = prof.formgrader()
    desk.read(SLUG, hub.learners[0])
    desk.mark(QUESTION.grade_id, "1.5", "Nearly: what of the file?")
    prof.press(SLUG, "generate-feedback")
    prof.press(SLUG, "release-feedback")

    hidden = hidden_lines(SLUG)
    for learner in (ada, ben, mallory):
        page = learner.fetch_feedback(SLUG)
        text = (hub.home(learner.name) / page).read_text(encoding="utf-8")
        assert hidden.found_in(text_of(page, text.encode()), own="\n".join(RIGHT.values())) == []
        assert not re.search(r"BEGIN HIDDEN|gained: \[[^]]", text)
        assert ("Nearly: what of the file?" in text) == (learner is ada)
        learner.page.goto(f"{learner.base}/lab/workspaces/read/tree/{page}")
        shown = learner.page.frame_locator("iframe[sandbox]")
        expect(shown.locator("h1").first).to_be_visible(timeout=60_000)

    # Once more, with the graded class lying there: what she links to is not collected with the instructor's rights.
    _runs(mallory, "'2101-01-01 00:00:00.000000 UTC+links'")
    assert "left out" in prof.press(SLUG, "collect")
    collected = hub.course / "submitted" / mallory.name / SLUG
    assert sorted(path.name for path in collected.iterdir()) == ["timestamp.txt"]
    _attacks(mallory, hub, forge=False)


def _sees_nothing_of_teachers(learner: Member) -> None:
    page = learner.page
    page.wait_for_timeout(2_000)
    assert page.locator(".jp-toast, .Toastify__toast, .jp-Dialog").count() == 0
    assert "Create Assignment" not in page.locator("body").inner_text()
    page.locator(".lm-MenuBar-itemLabel").get_by_text("Nbgrader", exact=True).click()
    expect(page.locator(".lm-Menu-itemLabel:visible")).to_have_text(["Assignment List"])
    page.keyboard.press("Escape")
    assert page.request.get(f"{learner.base}/formgrader").status == 404


def _works(learner: Member, answers: dict[str, str], right: bool) -> None:
    """Fetch, answer, check, Validate, submit."""
    if not (learner.hub.home(learner.name) / SLUG).exists():
        learner.fetch(SLUG)
    at = learner.at(SLUG)
    at.run_up_to(FIRST.id)
    question = at.go_to(QUESTION.grade_id)
    question.locator(".jp-InputArea-prompt").click()
    learner.page.keyboard.press("Enter")  # from what it reads like to what stands there
    question.locator(".cm-content").click()
    learner.page.keyboard.press("Control+A")
    learner.page.keyboard.insert_text(WRITTEN)
    learner.page.keyboard.press("Shift+Enter")
    for name, source in answers.items():
        at.type_into(name, source)
    at.run(FIRST.id)
    panel = at.run(FIRST.tests[0].grade_id)
    expect(panel).to_contain_text("passed" if right else FIRST.id)
    assert SECOND.id in at.in_a_new_cell("progress()")[0] or right
    assert f"{FIRST.id}: " in at.in_a_new_cell(f'hint("{FIRST.id}")')[0]
    at.save()
    said = at.validate()
    assert ("success" in said.lower()) == right, said
    learner.submit(SLUG)


def _kernels_of(learners: tuple[str, ...]) -> int:
    uids = {pwd.getpwnam(name).pw_uid for name in learners}
    kernels = [path for path in Path("/proc").glob("[0-9]*/cmdline") if b"ipykernel_launcher" in path.read_bytes()]
    return len({path.stat().st_uid for path in kernels} & uids)


def _attacks(mallory: Member, hub: Hub, forge: bool = True) -> None:
    """All that she tries, in her own kernel, while the others' run. She gains nothing."""
    others = [hub.learners[0], hub.learners[1], hub.teacher]
    handed_in = (hub.exchange / "pytorch_hooks" / "inbound").glob(f"{hub.learners[0]}+*UTC+*")
    (inbound,) = (path for path in handed_in if not path.name.endswith("+forged"))
    packages = [
        str(path)
        for path in hub.env.glob("lib/python3*/site-packages/*")
        if re.match("course|nbproof|pytorch_h", path.name)
    ]
    assert len(packages) >= 4
    facts = {
        "others": {pwd.getpwnam(name).pw_uid: name for name in others}, "homes": [str(hub.home(name)) for name in others],
        "exchange": str(hub.exchange / "pytorch_hooks"), "handed_in": inbound.name, "lesson": SLUG, "packages": packages,
        "hidden": [hashlib.sha256(line.encode()).hexdigest() for line in hidden_lines(SLUG).origins],
        "source": str(hub.course / "source"),
        "since": (hub.folder / "jupyterhub_config.py").stat().st_mtime,
    }  # fmt: skip
    home, uid = hub.home(mallory.name), pwd.getpwnam(mallory.name).pw_uid
    (home / "facts.json").write_text(json.dumps(facts))
    shutil.copy(HERE / "hostile.py", home)
    os.chown(home / "facts.json", uid, uid)
    if not (home / SLUG).exists():
        mallory.fetch(SLUG)
    said = _runs(mallory, "")
    gained = json.loads(said[said.index("gained ") + 7 :].splitlines()[0])
    assert set(gained) >= {"homes", "sockets", "hidden_checks"}
    assert not any(gained.values()), gained
    if forge:
        _runs(mallory, "forge")


def _runs(mallory: Member, words: str) -> str:
    at = mallory.at(SLUG)
    at.go_to(FIRST.id)
    (said,) = at.in_a_new_cell(f"!python ~/hostile.py ~/facts.json {words}")
    assert "Traceback" not in said, said
    return said
