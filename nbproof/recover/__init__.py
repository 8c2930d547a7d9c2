"""From whatever was handed in to the answers in it. Of an answer only the text is taken, and none is run."""
