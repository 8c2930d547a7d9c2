"""nbgrader's configuration of this course: `nbgrader` reads it when started in this folder."""

import importlib.util

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

# Where the package is not installed, nbgrader does everything as ever.
if importlib.util.find_spec("course"):
    import course  # noqa: F401 (the course that all of this works for)
    from nbproof.nbgrader.settings import use_engine

    use_engine(c)

# What one submission may use while it is graded. These are the defaults; learners find them in each lesson.
c.GradingLimits.exercise_seconds = 30.0
c.GradingLimits.submission_seconds = 180.0
c.GradingLimits.memory_mb = 2048
c.GradingLimits.processes = 48
c.GradingLimits.open_files = 256
c.GradingLimits.output_bytes = 1_000_000
c.GradingLimits.disk_mb = 64

# Of one lesson only, where that one needs more; what is not named stays as for all:
# c.GradingLimits.of_lesson = {"06_capstones": {"memory_mb": 4096}}

# Late work gets no points; nbgrader's own plug-ins work as well. Due dates: `python -m course roster due --help`.
# c.LateSubmissionPlugin.penalty_method = "zero"

# The desk shows names beside answers from the start; without this line they are hidden until a marker presses n.
# c.DeskSettings.names = "shown"
