"""Data sets: readers for files, and sets by name."""

from sodm.data.arrow import read_arrow
from sodm.data.dataset import Dataset
from sodm.data.delimited import read_csv
from sodm.data.errors import DataError
from sodm.data.libsvm import read_libsvm, write_libsvm
from sodm.data.named import load, names
from sodm.data.numpy_files import read_npy, read_npz
from sodm.data.read import read

__all__ = [
    "DataError",
    "Dataset",
    "load",
    "names",
    "read",
    "read_arrow",
    "read_csv",
    "read_libsvm",
    "read_npy",
    "read_npz",
    "write_libsvm",
]
