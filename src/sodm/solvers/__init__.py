"""Solvers: one file each, all returning a `SolveResult`."""
