"""What a class needs of the hub itself. set_up.py puts it where The Littlest JupyterHub reads it.

Another JupyterHub on one machine reads it by a line in its own configuration: load_subconfig("/path/to/this/file").
"""

c = get_config()

# JupyterLab, in which assignments are fetched and handed in.
c.Spawner.default_url = "/lab"

# A server takes 15 seconds to start on an idle machine, and at the beginning of a class everybody comes at once.
c.JupyterHub.concurrent_spawn_limit = 10
c.Spawner.start_timeout = 180
c.Spawner.http_timeout = 120

# Each user has a /tmp of their own (systemd's PrivateTmp). Spawners without systemd do not read this line.
c.SystemdSpawner.isolate_tmp = True
