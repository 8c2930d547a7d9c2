"""Levels of isolation, the fork server, the processes in it and the protocol with them."""
