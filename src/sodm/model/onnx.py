"""Machines as ONNX graphs of plain operators, for onnxruntime and others.

The graph takes ``X``, shape (n, n_features), and gives ``label``, shape (n,), and ``decision``, shape (n,)
for two classes or (n, n_classes), which of machines of pairs are votes, with margins to break ties; of a
regressor ``value``, shape (n,) or (n, n_targets). In float32 the decision agrees with ours to about 1e-4
times the sum of the absolute coefficients at most, usually far better; in float64 to about 1e-6 times it (the
precision of our own kernel values, or 1e-12 with
``precision="double"``).
"""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_regressor

from sodm.files import atomic_write
from sodm.model.machines import expansion, in_pairs, split
from sodm.model.scalers import affine
from sodm.problem.pairs import pairs_of

OPSET = 17
KERNELS = ("linear", "rbf", "poly", "sigmoid")
MOST_BYTES = 2**31 - 2**16  # an ONNX file is one protobuf message, which cannot be larger


def to_onnx(
    model: Any, path: str | os.PathLike[str], *, dtype: Literal["float32", "float64"] = "float32"
) -> None:
    """Write a machine, with its scaler, as an ONNX file; needs the package onnx.

    Parameters
    ----------
    model : fitted machine, or Pipeline of a scaler and a machine
        With the linear, rbf, poly or sigmoid kernel.
    path : path
    dtype : {"float32", "float64"}, default="float32"
        Type of the input and of all arithmetic.

    Raises
    ------
    ValueError
        If the kernel or the scaler has no place in such a graph, or the file would be too large.
    """
    try:
        import onnx
        from onnx import helper
    except ImportError as error:
        raise ImportError("ONNX files need the package onnx: run `pip install 'sodm[onnx]'`.") from error
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype must be 'float32' or 'float64', got {dtype!r}.")
    scaler, machine = split(model)
    kernel, vectors, _, _ = expansion(machine)
    if kernel.name not in KERNELS:
        raise ValueError(
            f"the kernel {kernel.name!r} cannot be converted to ONNX, only {', '.join(KERNELS)}."
        )
    size = np.prod(vectors.shape) * np.dtype(dtype).itemsize
    if size > MOST_BYTES:
        raise ValueError(
            f"the support vectors have {size:,.0f} bytes as a dense array; ONNX files hold 2 GB."
        )
    graph = _Graph(np.dtype(dtype))
    rows = "X" if scaler is None else _scaled(graph, scaler)
    number = helper.np_dtype_to_tensor_dtype(graph.dtype)
    values = _decision(graph, machine, rows)
    if in_pairs(machine):
        values = _votes(graph, values, len(machine.classes_))
    outputs = _value_outputs if is_regressor(machine) else _class_outputs
    proto = helper.make_graph(
        graph.nodes,
        type(machine).__name__,
        [helper.make_tensor_value_info("X", number, ["n", int(machine.n_features_in_)])],
        outputs(graph, machine, values, number),
        graph.constants,
    )
    whole = helper.make_model(
        proto, producer_name="sodm", opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8
    )
    onnx.checker.check_model(whole, full_check=True)
    with atomic_write(path) as file:
        file.write(whole.SerializeToString(deterministic=True))


class _Graph:
    """Nodes and constants, each operator adding one node and naming its result."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: Any, dtype: Any = None) -> str:
        from onnx import numpy_helper

        name = f"c{len(self.constants)}"
        array = np.asarray(values, dtype=self.dtype if dtype is None else dtype)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def __call__(self, operator: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        from onnx import helper

        name = name or f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name


def _scaled(graph: _Graph, scaler: Any) -> str:
    factor, shift = affine(scaler)
    return graph("Add", graph("Mul", "X", graph.constant(factor)), graph.constant(shift))


def _decision(graph: _Graph, machine: Any, rows: str) -> str:
    """f(x), shape (n, n_machines)."""
    kernel, vectors, dual_coef, intercept = expansion(machine)
    bias = graph.constant(intercept)
    if kernel.name == "linear":
        return graph("Add", graph("MatMul", rows, graph.constant(machine.coef_.T)), bias)
    support: NDArray[np.float64] = np.asarray(
        vectors.toarray() if sparse.issparse(vectors) else vectors, dtype=np.float64
    )
    if kernel.name == "rbf":
        # |x - s|^2 = |x|^2 - 2 x's + |s|^2 loses digits when x and s are far from the origin, so both are
        # moved.
        centre = support.mean(axis=0)
        support = support - centre
        rows = graph("Sub", rows, graph.constant(centre))
        products = graph("MatMul", rows, graph.constant(-2 * support.T))
        squares = graph("ReduceSumSquare", rows, axes=[1], keepdims=1)
        squares = graph("Add", squares, graph.constant((support**2).sum(axis=1)))
        distances = graph("Max", graph("Add", products, squares), graph.constant(0.0))
        values = graph("Exp", graph("Mul", distances, graph.constant(-kernel.gamma)))
    else:
        products = graph("MatMul", rows, graph.constant(kernel.gamma * support.T))
        values = graph("Add", products, graph.constant(kernel.coef0))
        if kernel.name == "poly":
            values = graph("Pow", values, graph.constant(float(kernel.degree)))
        else:
            values = graph("Tanh", values)
    return graph("Add", graph("MatMul", values, graph.constant(dual_coef.T)), bias)


def _votes(graph: _Graph, decision: str, n_classes: int) -> str:
    """Votes of the pairs and margins that break ties, as `sodm.problem.pairs.votes`, shape (n, n_classes)."""
    from onnx import TensorProto

    first, second = pairs_of(n_classes).T
    sides = np.eye(n_classes)[first] - np.eye(n_classes)[second]  # of each pair, +1 its first class
    number = TensorProto.FLOAT if graph.dtype == np.float32 else TensorProto.DOUBLE
    won = graph("Cast", graph("GreaterOrEqual", decision, graph.constant(0.0)), to=number)
    counts = graph("MatMul", won, graph.constant(sides))  # wins of the first sides minus those of the second
    counts = graph("Add", counts, graph.constant(np.arange(n_classes)))  # class c is the second of c pairs
    margins = graph("MatMul", decision, graph.constant(sides))
    size = graph("Add", graph("Abs", margins), graph.constant(1.0))
    share = graph("Div", margins, graph("Mul", size, graph.constant(3.0)))
    return graph("Add", counts, share)


def _label_values(classes: NDArray[Any]) -> NDArray[Any]:
    if classes.dtype.kind in "iu":
        return classes.astype(np.int64)
    return classes.astype(object) if classes.dtype.kind == "U" else classes


def _value_outputs(graph: _Graph, machine: Any, values: str, number: int) -> list[Any]:
    """The values of a regressor, in the shape its targets had."""
    from onnx import helper

    if machine._flat:
        graph("Squeeze", values, graph.constant([1], np.int64), name="value")
    else:
        graph("Identity", values, name="value")
    shape: list[str | int | None] = ["n"] if machine._flat else ["n", len(machine.intercept_)]
    return [helper.make_tensor_value_info("value", number, shape)]


def _class_outputs(graph: _Graph, machine: Any, values: str, number: int) -> list[Any]:
    """The label and the decision values of a classifier."""
    from onnx import TensorProto, helper

    classes = machine.classes_
    _classes(graph, classes, values)
    label = helper.np_dtype_to_tensor_dtype(np.asarray(_label_values(classes)).dtype)
    if classes.dtype.kind in "UO":
        label = TensorProto.STRING
    wide: list[str | int | None] = ["n"] if len(classes) == 2 else ["n", len(classes)]
    return [
        helper.make_tensor_value_info("label", label, ["n"]),
        helper.make_tensor_value_info("decision", number, wide),
    ]


def _classes(graph: _Graph, classes: NDArray[Any], decision: str) -> None:
    """The outputs: the decision values, and the label of the winner."""
    if len(classes) == 2:
        flat = graph("Squeeze", decision, graph.constant([1], np.int64), name="decision")
        from onnx import TensorProto

        winner = graph("Cast", graph("Greater", flat, graph.constant(0.0)), to=TensorProto.INT64)
    else:
        graph("Identity", decision, name="decision")
        winner = graph("ArgMax", decision, axis=1, keepdims=0)
    values = _label_values(classes)
    graph("Gather", graph.constant(values, values.dtype), winner, name="label")
