"""What a probe brings, as plain data: taken, described, compared."""
