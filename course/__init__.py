"""A hands-on course on PyTorch hooks and ``Module.apply``: what its lessons import."""

from course.vision import watch_for_torchvision

# Before any lesson imports torchvision; see course/vision.py for the reason.
watch_for_torchvision()
