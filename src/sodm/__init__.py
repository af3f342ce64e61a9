"""Scalable optimal margin distribution machines."""

__version__ = "0.1.0"
