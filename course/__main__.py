"""``python -m course``: the commands of the course."""

import sys

from course.cli import main

sys.exit(main())
