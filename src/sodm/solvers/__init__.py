"""Solvers, one file each, with the problem they solve on top."""
