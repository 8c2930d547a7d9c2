"""The command line: one module a command, and the tables that commands print."""
