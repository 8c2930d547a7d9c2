"""A teacher at formgrader: sees scores, reads a submission, marks what people wrote; nothing that learners wrote runs."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from playwright.sync_api import expect

from nbproof.authoring.simulate import hand_in
from nbproof.sandbox.isolation import why_not_isolated
from nbproof.testing import Rehearsal
from tests import main, the_lesson, without_demonstrations
from tests.browser.conftest import ROOT, Lab, running
from tests.browser.people import Instructor, hidden_lines

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(bool(why_not_isolated()), reason=f"formgrader is NOT tested: {why_not_isolated()}"),
]

LESSON = the_lesson("01_module_anatomy")
SLUG = LESSON.slug
(QUESTION,) = LESSON.questions
RIGHT = {one.id: one.answer.source for one in LESSON.exercises}
CODE_POINTS = sum(exercise.points for exercise in LESSON.exercises)
EVIL = '<img src=x onerror=alert("name")>'
ATTACK = """
from IPython.display import display, HTML, Markdown, Javascript
display(HTML("<script>alert('html')</script><img src=http://evil.example/x onerror=alert(1)><svg onload=alert(1)>"))
display(Javascript("alert('javascript')"))
display(Markdown("[x](javascript:alert(1)) <img src=x onerror=alert('markdown')>"))
display({"image/png": 'AAAA" onerror="alert(1)', "image/svg+xml": "<svg onload=alert(1)></svg>"}, raw=True)
print("</pre><script>alert('stream')</script>")
raise type("<script>alert('name')</script>", (Exception,), {})("</pre><img src=x onerror=alert('error')>")
# </pre></div><script>alert('answer')</script>
"""
WRITTEN_ATTACK = """<script>alert('written')</script><img src=x onerror=alert('written')>
[x](javascript:alert(1)) ![x](http://evil.example/y) <iframe srcdoc="<script>alert(1)</script>"></iframe>

</div></div></div></div><style>@import '//evil.example'; body { display: none }</style> $\\href{javascript:alert(1)}{x}$
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A graded class of two, one of them hostile, and `python -m course formgrader` on it."""
    course = tmp_path_factory.mktemp("desk")
    for step in ("source", "release"):
        shutil.copytree(ROOT / step / SLUG, course / step / SLUG)
        without_demonstrations(course / step / SLUG / f"{SLUG}.ipynb")
    shutil.copy(ROOT / "nbgrader_config.py", course)
    first = LESSON.exercises[0].id
    for learner, answers in (
        ("ada", {**RIGHT, QUESTION.grade_id: "Autograd follows what is computed, the optimizer what is registered."}),
        (EVIL, {**RIGHT, first: ATTACK, QUESTION.grade_id: WRITTEN_ATTACK}),
    ):
        path = course / "submitted" / learner / SLUG / f"{SLUG}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(hand_in(course / "release" / SLUG / f"{SLUG}.ipynb", answers), path)
    assert main(["grade", "--course", str(course), "--no-feedback"]) == 0
    with running(course, "formgrader") as started:
        yield started


def test_a_teacher_marks_what_was_written_and_nothing_of_it_runs(browser: Any, desk: Lab) -> None:
    teacher = Instructor(browser.new_page(viewport={"width": 1280, "height": 900}), desk)
    teacher.come_in()
    expect(teacher.assignment(SLUG).locator(".num-submissions")).to_have_text("2")
    row = teacher.rows(SLUG)["ada"]
    expect(row.locator("td.score")).to_have_text(f"{CODE_POINTS:g} / {CODE_POINTS + 2:g}")
    expect(row.locator("td.written-score")).to_have_text("0 / 2")
    expect(row.locator("td.needs-manual-grade .glyphicon-ok")).to_be_visible()

    # The page holds what is asked, answered and found, and no hidden test.
    page = teacher.read(SLUG, "ada")
    expect(page.get_by_role("status")).to_have_count(sum(len(one.tests) for one in LESSON.exercises))
    # By Ctrl+. one comes from a box of one submission to the same box of the next.
    teacher.page.goto(f"{teacher.page.url.partition('?')[0]}?index=2")
    expect(page.locator(".tabbable").nth(2)).to_be_focused()
    expect(page.get_by_role("status").first).to_contain_text("passed")
    text = page.inner_text()
    assert "Autograd follows what is computed, the optimizer what is registered." in text
    assert re.search(r"Exercise: A chain in any order", text)
    # A file that learners never get has this text; a teacher gets it by one click.
    scheme = page.locator("details", has_text="Reference answer and mark scheme")
    expect(scheme.get_by_text("2 points: says that autograd")).to_be_hidden()
    scheme.locator("summary").click()
    expect(scheme.get_by_text("2 points: says that autograd")).to_be_visible()
    hidden = hidden_lines(SLUG)
    assert len(hidden) > 5
    assert hidden.found_in(text, own="\n".join(RIGHT.values())) == []

    teacher.mark(QUESTION.grade_id, "1.5", "Nearly: what of the file?")
    row = teacher.rows(SLUG)["ada"]
    expect(row.locator("td.score")).to_have_text(f"{CODE_POINTS + 1.5:g} / {CODE_POINTS + 2:g}")
    expect(row.locator("td.needs-manual-grade .glyphicon-ok")).to_have_count(0)

    # As after another hand-in: the mark waits once more, and stays.
    room = Rehearsal(desk.course, SLUG)
    with room.gradebook() as book:
        book.find_grade(QUESTION.grade_id, SLUG, SLUG, "ada").needs_manual_grade = True
        book.db.commit()
    teacher.read(SLUG, "ada")
    with teacher.page.expect_response(lambda answer: answer.request.method == "PUT"):
        teacher.page.get_by_role("button", name="Resolve").click()
    with room.gradebook() as book:
        grade = book.find_grade(QUESTION.grade_id, SLUG, SLUG, "ada")
        assert (grade.manual_score, grade.needs_manual_grade) == (1.5, False)

    teacher.generate_feedback(SLUG)
    told = (teacher.desk.course / "feedback" / "ada" / SLUG / f"{SLUG}.html").read_text(encoding="utf-8")
    assert "Nearly: what of the file?" in told
    assert "says that autograd" not in told

    # Nothing that the other one handed in runs in the teacher's browser.
    page = teacher.read(SLUG, EVIL)
    teacher.page.wait_for_timeout(500)
    expect(page).to_contain_text("<script>alert('written')</script>")
    expect(page).to_contain_text("<iframe srcdoc=")
    expect(page.get_by_role("status").first).to_be_visible()
    cells = page.locator("#notebook")
    assert cells.locator("script, iframe, svg, style, object, embed, form, [onerror], [onload]").count() == 0
    assert cells.locator("a[href^='javascript']").count() == 0
    page.locator(".glyphicon-eye-open").first.click()
    expect(page.locator("a.name-shown")).to_have_text(EVIL)
    teacher.page.goto(f"{teacher.desk.url}/formgrader/manage_students")
    expect(teacher.page.get_by_text(EVIL)).to_be_visible()
    teacher.page.goto(f"{teacher.desk.url}/formgrader/manage_submissions/{SLUG}/")
    expect(teacher.page.get_by_text(EVIL)).to_be_visible()
    assert teacher.alarms == []
