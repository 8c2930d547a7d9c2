"""What a lesson is, as a value, and its two readers: from the text that authors write, and from nbgrader's notebooks."""
