"""What nbgrader calls: preprocessors, exporters, formgrader."""
