"""nbgrader's configuration of this course: `nbgrader` reads it when started in this folder."""

import os

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "pytorch_hooks"

# What a learner finds in place of the reference solution. It runs, and does nothing: so
# "Run All" reaches the check, which says kindly what is missing.
c.ClearSolutions.code_stub = {"python": "pass  # TODO: your code"}

# Seconds that one cell may take while grading.
c.ExecutePreprocessor.timeout = 60

# A learner who deletes a test cell gets it back, and marks for what the rest earns.
c.OverwriteCells.add_missing_cells = True


# Kernels that grade talk over Unix sockets: no TCP port to race for, nobody else on the machine can listen.
if os.name == "posix":
    c.KernelManager.transport = "ipc"
