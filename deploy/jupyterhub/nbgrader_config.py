"""nbgrader's configuration for everybody on the hub. set_up.py puts it into etc/jupyter/ of the users' environment."""

c = get_config()

c.CourseDirectory.course_id = "pytorch_hooks"

# The folder through which assignments go out, work comes in, and feedback goes back. set_up.py makes it.
c.Exchange.root = "/srv/nbgrader/exchange"

# The kernel in which Validate runs a notebook is as private as any other (jupyter_server_config.py says why).
c.KernelManager.transport = "ipc"
