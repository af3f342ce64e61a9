"""The paper's experiments, run again: `sodm bench paper`.

paper/        objective, data sets and solvers, one file each: a benchmark that benchopt runs as it is
plan          what is to be run
runner        runs what is missing, each run in a process of its own (worker), one line of results each
report/       tables, figures and findings, from the file of results alone
printed.json  what the paper prints
"""
