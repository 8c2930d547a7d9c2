"""Where nbgrader calls: preprocessors, exporters, formgrader."""
