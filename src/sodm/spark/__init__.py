"""The machines on a Spark cluster: pyspark.ml estimators that train the Python estimators of the same names.

Needs the extra `sodm[spark]`, Java 17 or newer, and sodm on every executor.
"""

from importlib import import_module
from typing import Any

try:
    import pyspark as _pyspark  # noqa: F401
except ImportError as error:
    raise ImportError("sodm.spark needs pyspark: install sodm[spark].") from error

from sodm.spark.versions import check_java

check_java()

# Executors load this package for its functions on blocks, and have no use for pyspark.ml: estimators and
# models are loaded when they are asked for.
_LATER = {
    "CascadeClassifier": "estimators",
    "CascadeClassifierModel": "models",
    "DCClassifier": "estimators",
    "DCClassifierModel": "models",
    "DiPClassifier": "estimators",
    "DiPClassifierModel": "models",
    "LinearODMClassifier": "estimators",
    "LinearODMClassifierModel": "models",
    "LinearODMRegressor": "regressors",
    "LinearODMRegressorModel": "models",
    "OutOfMemory": "errors",
    "SODMClassifier": "estimators",
    "SODMClassifierModel": "models",
    "SODMRegressor": "regressors",
    "SODMRegressorModel": "models",
    "TaskFailed": "errors",
}

__all__ = list(_LATER)


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
