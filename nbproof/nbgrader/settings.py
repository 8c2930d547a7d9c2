"""What a course's ``nbgrader_config.py`` asks for with one line: nbgrader that grades in the engine, and shows its pages."""

from __future__ import annotations

import sys
from pathlib import Path

from traitlets.config import Config

from nbproof import course_here
from nbproof.command import called_for
from nbproof.course_file import Course, find_course, read_course
from nbproof.run.journal import JOURNAL

__all__ = ["course_told", "use_engine"]


def use_engine(c: Config, file: str = "") -> None:
    """Have nbgrader, configured by ``c``, grade in the engine: isolated, in parallel, verdicts outside the learner's process.

    If the system is not Linux, ``nbgrader autograde`` grades nothing, and says why. ``file``: the nbgrader_config.py that
    asks, in the folder of the course; not needed if the course's package has been imported.
    """
    course = find_course(Path(file).parent) if file else course_here()
    course.enter()
    c.Mark.works_for = c.FeedbackPage.works_for = str(course.folder)
    # Made before nbgrader copies or reads anything of a submission.
    c.Autograde.exporter_class = "nbproof.nbgrader.autograde.Mark"

    if sys.platform != "win32":
        # Everybody may write in nbgrader's exchange: the file system says who owns a folder, not its name.
        c.ExchangeFactory.collect = "nbproof.nbgrader.exchange.CollectFromOwners"

    # Feedback, by nbgrader or by formgrader's button, is the page that the command `feedback` writes.
    c.GenerateFeedback.exporter_class = "nbproof.nbgrader.formgrader.FeedbackPage"
    # Grading has written a page already, and nbgrader keeps what is there, with the marks of that moment.
    c.GenerateFeedback.force = True

    # formgrader shows what is asked, answered and found, with the mark scheme below each written answer.
    c.HTMLExporter.preprocessors = ["nbproof.nbgrader.formgrader.ReadingView"]
    # It draws formulas as MathML: nothing is fetched from elsewhere for them.
    c.HTMLExporter.extra_template_basedirs.prepend([str(Path(__file__).parent / "templates")])

    # nbgrader copies what lies beside a notebook. The engine's record of a verdict is not for learners, nor from them.
    c.CourseDirectory.ignore = [
        ".ipynb_checkpoints",
        "*.pyc",
        "__pycache__",
        "feedback",
        JOURNAL,
        f"{JOURNAL}.new",
    ]


def course_told(folder: str, root: Path) -> Course:
    """The course that :func:`use_engine` has noted, or, where nobody has called it, the one in ``root``."""
    course = read_course(Path(folder)) if folder else find_course(root)
    called_for(course)
    return course
