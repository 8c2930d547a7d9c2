"""From one submission to its verdict: the instructor's notebook, the judge, the graded notebook."""
