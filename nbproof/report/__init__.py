"""What people read after a run: tables in the terminal."""
