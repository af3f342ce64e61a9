"""The machines on a Spark cluster: pyspark.ml estimators that train the Python estimators of the same names.

Needs the extra `sodm[spark]`, Java 17 or newer, and sodm on every executor.
"""

try:
    import pyspark as _pyspark  # noqa: F401
except ImportError as error:
    raise ImportError("sodm.spark needs pyspark: install sodm[spark].") from error

from sodm.spark.cluster import OutOfMemory, TaskFailed, check_java

check_java()

from sodm.spark.estimators import (  # noqa: E402
    CascadeClassifier,
    DCClassifier,
    DiPClassifier,
    LinearODMClassifier,
    SODMClassifier,
)
from sodm.spark.models import (  # noqa: E402
    CascadeClassifierModel,
    DCClassifierModel,
    DiPClassifierModel,
    LinearODMClassifierModel,
    SODMClassifierModel,
)

__all__ = [
    "CascadeClassifier",
    "CascadeClassifierModel",
    "DCClassifier",
    "DCClassifierModel",
    "DiPClassifier",
    "DiPClassifierModel",
    "LinearODMClassifier",
    "LinearODMClassifierModel",
    "OutOfMemory",
    "SODMClassifier",
    "SODMClassifierModel",
    "TaskFailed",
]
