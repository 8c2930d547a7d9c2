"""nbgrader's configuration of this course: `nbgrader` reads it when started in this folder."""

import importlib.util
import sys

c = get_config()

c.CourseDirectory.course_id = "pytorch_hooks"

# What a learner finds in place of the reference solution. It runs, and does nothing: so
# "Run All" reaches the check, which says kindly what is missing.
c.ClearSolutions.code_stub = {"python": "pass  # TODO: your code"}
c.ClearSolutions.text_stub = "Write your answer here, in two or three sentences."

# Seconds that one cell may take while grading.
c.ExecutePreprocessor.timeout = 60

# A learner who deletes a test cell gets it back, and marks for what the rest earns.
c.OverwriteCells.add_missing_cells = True


# Grade in the course's engine: isolated, in parallel, verdicts outside the learner's process. Where the
# package is not installed, or the system is not Linux, nbgrader's own preprocessors stay in place.
if sys.platform == "linux" and importlib.util.find_spec("course"):
    from nbgrader.preprocessors import AssignLatePenalties, CheckCellMetadata, SaveAutoGrades

    from nbproof.nbgrader.preprocessors import LookFirst, Mark, Rebuild

    # Made before nbgrader copies or reads anything of a submission.
    c.Autograde.exporter_class = LookFirst
    c.Autograde.sanitize_preprocessors = [Rebuild, CheckCellMetadata]
    c.Autograde.autograde_preprocessors = [Mark, SaveAutoGrades, AssignLatePenalties, CheckCellMetadata]

# Feedback, by nbgrader or by formgrader's button, is the page that `python -m course feedback` writes.
if importlib.util.find_spec("course"):
    import course  # noqa: F401 (the course that all of this works for)

    c.GenerateFeedback.exporter_class = "nbproof.nbgrader.feedback_exporter.FeedbackPage"

    # formgrader shows what is asked, answered and found, with the mark scheme below each written answer.
    c.HTMLExporter.preprocessors = ["nbproof.nbgrader.reading_view.ReadingView"]

    # What to do next, where one of nbgrader's own commands cannot go on: it is said below the error.
    c.Application.logging_config = {
        "filters": {"next_step": {"()": "nbproof.nbgrader.next_step.NextStep"}},
        "handlers": {"console": {"filters": ["next_step"]}},
    }

# nbgrader copies what lies beside a notebook. The engine's record of a verdict is not for learners, nor from them.
c.CourseDirectory.ignore = [
    ".ipynb_checkpoints",
    "*.pyc",
    "__pycache__",
    "feedback",
    ".verdict.json",
    ".verdict.json.new",
]

# What one submission may use while it is graded. These are the defaults; learners find them in each lesson.
c.GradingLimits.exercise_seconds = 30.0
c.GradingLimits.submission_seconds = 180.0
c.GradingLimits.memory_mb = 2048
c.GradingLimits.processes = 48
c.GradingLimits.open_files = 256
c.GradingLimits.output_bytes = 1_000_000
c.GradingLimits.disk_mb = 64
