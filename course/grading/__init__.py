"""For instructors: from submissions to marks. Learners never need it."""
