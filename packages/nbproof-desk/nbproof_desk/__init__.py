"""The teacher's desk: a page in the browser on which a person marks one question, all answers below one another.

``command`` starts it. ``questions`` reads what waits out of graded work, ``marks`` reads and writes nbgrader's gradebook,
``ledger`` is the journal of all that was given, ``shown`` makes learners' text fit to be shown, ``server`` answers the browser.
``people`` reads who needs a word and what one learner has, and ``people_pages`` shows it; ``settings`` is what the course says.
"""
