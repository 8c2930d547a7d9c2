"""Pictures that the lessons draw, one module each. All take the learner's own modules and tensors."""
