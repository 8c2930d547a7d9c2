"""For the server of everybody on the hub. set_up.py puts it into etc/jupyter/ of the environment that servers run in."""

import os
import sys
from pathlib import Path

c = get_config()

# What a user makes is that user's alone, also in /tmp.
os.umask(0o077)

# Kernels talk through sockets in the user's own home. By TCP, Jupyter's default, whoever is on the machine can listen to the
# outputs of everybody's notebooks. The folder's name is short, because the path of a socket may have 107 bytes.
c.KernelManager.transport = "ipc"
os.environ["JUPYTER_RUNTIME_DIR"] = str(Path.home() / ".jupyter" / "run")

# nbgrader starts its helpers by their bare names, and so do people in a terminal.
os.environ["PATH"] = os.pathsep.join(
    dict.fromkeys([f"{sys.prefix}/bin", *os.environ.get("PATH", "").split(os.pathsep)])
)
# A login shell, which a terminal is else, would read /etc/profile, and take this away again.
c.ServerApp.terminado_settings = {"shell_command": [os.environ.get("SHELL") or "/bin/bash"]}

# Parts of nbgrader that are for those who teach. Their own configuration switches formgrader on again.
c.ServerApp.jpserver_extensions = {
    "nbgrader.server_extensions.formgrader": False,
    "nbgrader.server_extensions.course_list": False,
}
