"""For authors: from lesson.py to notebooks, and the proof that every check is right. Learners never need it."""
