"""One module for each system that hands over what learners handed in; a new one is a new file (CONTRIBUTING.md, 'Add an LMS')."""
