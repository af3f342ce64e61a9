"""Models in folders that Spark can reach: `metadata/` as Spark's own models have it, and `machine.sodm`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReader, MLWriter

from sodm.model import load, save

NAME = "machine.sodm"


class MachineWriter(MLWriter):
    """Writes a model. The machine is the same file that `sodm.save` makes."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def saveImpl(self, path: str) -> None:
        """Save to a path on any file system that Spark knows."""
        context = self.sparkSession.sparkContext
        with tempfile.TemporaryDirectory() as folder:
            local = Path(folder) / NAME
            save(self.model.machine, local)  # first: what cannot be saved leaves nothing behind
            DefaultParamsWriter.saveMetadata(self.model, path, self.sparkSession)
            system, target = _there(context, f"{path}/{NAME}")
            system.copyFromLocalFile(False, True, _path(context, local.as_uri()), target)


class MachineReader(MLReader[Any]):
    """Reads a model."""

    def __init__(self, kind: type) -> None:
        super().__init__()
        self.kind = kind

    def load(self, path: str) -> Any:
        """Load from a path on any file system that Spark knows."""
        context = self.sparkSession.sparkContext
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        system, source = _there(context, f"{path}/{NAME}")
        with tempfile.TemporaryDirectory() as folder:
            local = Path(folder) / NAME
            system.copyToLocalFile(False, source, _path(context, local.as_uri()), True)
            model = self.kind(load(local, mmap=False))
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


def _path(context: SparkContext, text: str) -> Any:
    assert context._jvm is not None
    return context._jvm.org.apache.hadoop.fs.Path(text)


def _there(context: SparkContext, text: str) -> tuple[Any, Any]:
    path = _path(context, text)
    return path.getFileSystem(context._jsc.hadoopConfiguration()), path
