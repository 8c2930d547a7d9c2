"""What learners see in a notebook: panel, help, progress; and the command that opens it."""
