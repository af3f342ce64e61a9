"""Fitted machines as files: saved, loaded, converted."""

from sodm.model.errors import ModelFileError
from sodm.model.libsvm import from_libsvm, to_libsvm
from sodm.model.loading import describe, load
from sodm.model.machines import TRUSTED_TYPES
from sodm.model.onnx import to_onnx
from sodm.model.pickled import to_pickle
from sodm.model.saving import save

__all__ = [
    "TRUSTED_TYPES",
    "ModelFileError",
    "describe",
    "from_libsvm",
    "load",
    "save",
    "to_libsvm",
    "to_onnx",
    "to_pickle",
]
