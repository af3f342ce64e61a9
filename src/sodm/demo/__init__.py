"""`make demo` and `sodm demo`: the machines side by side on generated data, as a table and as a page."""

ROWS = 24_000  # so that all of it takes less than a minute on two cores
