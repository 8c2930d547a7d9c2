"""What a class's results say: the report as page and files, grade files, feedback to hand back, who handed in what."""
