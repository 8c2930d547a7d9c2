"""From a hand-in, also a damaged one, to the answers in it. Only the text of an answer is taken, and none is run."""
