"""Models in folders that Spark can reach: `metadata/` as Spark's own models have it, and `machine.sodm`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReader, MLWriter

from sodm.model import load, save
from sodm.spark.private import download, upload
from sodm.spark.session import context_of

NAME = "machine.sodm"


class MachineWriter(MLWriter):
    """Writes a model. The machine is the same file that `sodm.save` makes."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def saveImpl(self, path: str) -> None:
        """Save to a path on any file system that Spark knows."""
        context = context_of(self.sparkSession)
        with tempfile.TemporaryDirectory() as folder:
            local = Path(folder) / NAME
            save(self.model.machine, local)  # first: what cannot be saved leaves nothing behind
            DefaultParamsWriter.saveMetadata(self.model, path, self.sparkSession)
            upload(context, local, f"{path}/{NAME}")


class MachineReader(MLReader[Any]):
    """Reads a model."""

    def __init__(self, kind: type) -> None:
        super().__init__()
        self.kind = kind

    def load(self, path: str) -> Any:
        """Load from a path on any file system that Spark knows."""
        context = context_of(self.sparkSession)
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        with tempfile.TemporaryDirectory() as folder:
            local = Path(folder) / NAME
            download(context, f"{path}/{NAME}", local)
            model = self.kind(load(local, mmap=False))
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model
