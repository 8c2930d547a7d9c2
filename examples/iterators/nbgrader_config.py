"""nbgrader's configuration of this course: `nbgrader` reads it when it is started in this folder."""

from nbproof.nbgrader.settings import use_engine

c = get_config()

c.CourseDirectory.course_id = "iterators"

# What a learner finds in place of the reference solution. It runs, and does nothing: so "Run All" reaches the check.
c.ClearSolutions.code_stub = {"python": "pass  # TODO: your code"}
c.ClearSolutions.text_stub = "Write your answer here, in two or three sentences."

# A learner who deletes a test cell gets it back, and marks for what the rest earns.
c.OverwriteCells.add_missing_cells = True

use_engine(c, __file__)

# What one submission may use while it is graded. These are the defaults; learners find them in each lesson.
c.GradingLimits.exercise_seconds = 30.0
c.GradingLimits.submission_seconds = 180.0
c.GradingLimits.memory_mb = 2048
