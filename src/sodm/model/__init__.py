"""Fitted machines as files: saved, loaded, converted."""

from sodm.model.errors import ModelFileError
from sodm.model.io import describe, load, save

__all__ = ["ModelFileError", "describe", "load", "save"]
