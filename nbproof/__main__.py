"""``python -m nbproof``: the same commands for any course, the one in the folder that ``--course`` names."""

import sys

from nbproof.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
