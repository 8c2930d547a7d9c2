"""What a check is: a probe that runs beside the learner's code, a truth that knows what it should bring, a diagnosis."""
