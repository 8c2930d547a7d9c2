"""The tests of tool and course."""

import course  # noqa: F401 (the course that they work for)
