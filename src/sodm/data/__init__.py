"""Readers of data."""
