"""How anything is printed to a terminal."""
