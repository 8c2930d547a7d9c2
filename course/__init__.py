"""A hands-on course on PyTorch hooks and ``Module.apply``: what its lessons import."""

from course.vision import make_torchvision_importable

# Before any lesson imports torchvision; see course/vision.py for the reason.
make_torchvision_importable()
