"""Predictions: the machine is sent to the executors once, in pieces, and decides Arrow batches of rows."""

from __future__ import annotations

import pickle
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from sodm.problem.row_types import Rows
from sodm.spark.columns import Columns, feature_columns
from sodm.spark.packing import features_of
from sodm.spark.processes import settle

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark import Broadcast, SparkContext
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

PIECE = 32 * 2**20  # bytes; one large object would have to be held in one Java array

_last_received: dict[str, Any] = {}  # the machine that this process has put together last, by its name


@dataclass(frozen=True)
class SentMachine:
    """A machine on its way: a name that no other has, and its pieces as broadcasts."""

    name: str
    pieces: list[Broadcast[bytes]]


def send_machine(context: SparkContext, machine: Any) -> SentMachine:
    """A machine as broadcasts."""
    packed = pickle.dumps(machine, protocol=5)
    cuts = range(0, len(packed), PIECE)
    return SentMachine(uuid4().hex, [context.broadcast(packed[at : at + PIECE]) for at in cuts])


def received_machine(sent: SentMachine) -> Any:
    """The machine, on an executor."""
    if sent.name not in _last_received:
        _last_received.clear()
        _last_received[sent.name] = pickle.loads(b"".join(piece.value for piece in sent.pieces))
    return _last_received[sent.name]


class Scores(Protocol):
    """What a machine writes beside rows; an empty name leaves a column out."""

    def fields(self) -> dict[str, DataType]:
        """Names of columns, and their types."""

    def arrays(self, machine: Any, rows: Rows) -> dict[str, pa.Array]:
        """The same columns of some rows, as Arrow takes them; on an executor."""


@dataclass(frozen=True)
class ClassScores:
    """The values of f, and the classes."""

    raw: str
    prediction: str
    is_text: bool

    def fields(self) -> dict[str, DataType]:
        from pyspark.ml.linalg import VectorUDT
        from pyspark.sql.types import DoubleType, StringType

        kinds = {self.raw: VectorUDT(), self.prediction: StringType() if self.is_text else DoubleType()}
        return {name: kind for name, kind in kinds.items() if name}

    def arrays(self, machine: Any, rows: Rows) -> dict[str, pa.Array]:
        import pyarrow as pa

        values = machine.decision_function(rows)
        made = {self.raw: _vectors(values)} if self.raw else {}
        if self.prediction:
            places = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
            classes = machine.classes_[places]
            made[self.prediction] = pa.array(classes.tolist() if self.is_text else classes.astype(np.float64))
        return made


@dataclass(frozen=True)
class NumberScores:
    """The values of f alone."""

    prediction: str

    def fields(self) -> dict[str, DataType]:
        from pyspark.sql.types import DoubleType

        return {self.prediction: DoubleType()} if self.prediction else {}

    def arrays(self, machine: Any, rows: Rows) -> dict[str, pa.Array]:
        import pyarrow as pa

        return {self.prediction: pa.array(machine.predict(rows))} if self.prediction else {}


def score(frame: DataFrame, columns: Columns, sent: SentMachine, scores: Scores) -> DataFrame:
    """The DataFrame with what the machine says beside it."""
    from pyspark.sql.types import StructField, StructType

    fields = list(frame.schema.fields)
    for name, kind in scores.fields().items():
        if any(field.name == name for field in frame.schema.fields):
            raise ValueError(f"The DataFrame has a column {name!r} already: drop it, or choose another name.")
        fields.append(StructField(name, kind))
    n_columns = len(frame.columns)

    def decide(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        settle()
        machine = received_machine(sent)
        for batch in batches:
            if batch.num_rows == 0:
                continue
            faults: Counter[str] = Counter()
            rows = features_of(batch, columns, faults)
            if faults:
                what, count = next(iter(faults.items()))
                raise ValueError(f"{what} ({count} in a batch of {batch.num_rows} rows): drop or fill them.")
            made = scores.arrays(machine, rows)
            arrays = [*(batch.column(k) for k in range(n_columns)), *made.values()]
            names = [*batch.schema.names[:n_columns], *made]
            yield pa.RecordBatch.from_arrays(arrays, names=names)

    return _map_in_arrow(frame.select("*", *feature_columns(columns)), decide, StructType(fields))


def _map_in_arrow(
    frame: DataFrame,
    function: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    schema: StructType,
) -> DataFrame:
    """`DataFrame.mapInArrow`; Spark's warning about the version of pandas is no concern of ours."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        return frame.mapInArrow(function, schema)


def _vectors(values: NDArray[np.float64]) -> pa.StructArray:
    """Dense vectors as Spark stores them; of two classes, (-f, f)."""
    import pyarrow as pa

    raw = np.column_stack([-values, values]) if values.ndim == 1 else values
    n, width = raw.shape
    offsets = pa.array(np.arange(0, n * width + 1, width, dtype=np.int32))
    lists = pa.ListArray.from_arrays(offsets, pa.array(raw.ravel()))
    return pa.StructArray.from_arrays(
        [
            pa.array(np.ones(n, dtype=np.int8)),
            pa.nulls(n, pa.int32()),
            pa.nulls(n, pa.list_(pa.int32())),
            lists,
        ],
        names=["type", "size", "indices", "values"],
    )
