"""One run over a class: what came, what has to be marked, who marks it, what is kept."""
