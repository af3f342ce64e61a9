"""Machines for many rows: a system is a choice of partition x merge rule x local solver x loss x engine."""
