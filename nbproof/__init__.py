"""Checks that are proven, feedback that names the misconception, grading that cannot be cheated: for any nbgrader course."""
