"""What the server of :mod:`course.authoring.trial` has ready for its forks: IPython's shell. Import it there only."""

from __future__ import annotations

import os
import tempfile

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

__all__ = ["SHELL"]

_config = Config()
# A history needs a thread and a file; threads do not survive a fork, and nobody wants the file.
_config.HistoryManager.enabled = False

with tempfile.TemporaryDirectory() as _scratch:
    _home = os.environ.get("IPYTHONDIR")
    os.environ["IPYTHONDIR"] = _scratch
    SHELL = InteractiveShell.instance(config=_config)
    if _home is None:
        del os.environ["IPYTHONDIR"]
    else:
        os.environ["IPYTHONDIR"] = _home
