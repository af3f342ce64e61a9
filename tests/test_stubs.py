"""The types of the compiled module: those it has, installed with the package, and strict enough to help."""

from __future__ import annotations

import ast
from importlib import resources
from pathlib import Path

import pytest

from sodm import _core

STUB = Path(__file__).parent.parent / "src" / "sodm" / "_core.pyi"


def signatures(source: str) -> dict[str, list[str]]:
    """Of each function and attribute, by its full name, how it is declared; without docstrings."""
    found: dict[str, list[str]] = {}

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                found[prefix + node.name] = [ast.unparse(base) for base in node.bases]
                visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                node.body = [ast.Pass()]
                found.setdefault(prefix + node.name, []).append(ast.unparse(node))
            elif isinstance(node, ast.AnnAssign):
                found[prefix + ast.unparse(node.target)] = [ast.unparse(node.annotation)]

    visit(ast.parse(source).body, "")
    return found


def test_the_stub_is_that_of_the_module() -> None:
    """After a change to bindings/: make stubs."""
    stubgen = pytest.importorskip("nanobind.stubgen")
    generator = stubgen.StubGen(_core)
    generator.put(_core)
    made, kept = signatures(generator.get()), signatures(STUB.read_text())
    assert len(made) > 60
    assert kept == made


def test_nothing_in_the_stub_is_left_open() -> None:
    for name, declared in signatures(STUB.read_text()).items():
        for words in declared:
            for left_open in (": object", "-> object", "-> tuple:", "Any"):
                assert left_open not in words, f"{name} is declared as {words}"


def test_types_are_installed() -> None:
    assert resources.files("sodm").joinpath("py.typed").is_file()


WRONG = {
    "_core.resolve_threads('two')": "arg-type",
    "_core.LibsvmParser().feed(b'1 1:1')": "arg-type",
    "_core.pivoted_cholesky(np.eye(3), 2)": "arg-type",
    "_core.Points.dense(np.eye(3), _core.KernelFunction('rbf'), like=3)": "arg-type",
    "_core.no_such_function()": "attr-defined",
    "_core.solve_definite(np.eye(2), np.ones(2)).shape": "union-attr",
}


@pytest.mark.slow
def test_wrong_calls_are_seen(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    code = tmp_path / "calls.py"
    code.write_text("\n".join(["import numpy as np", "from sodm import _core", *WRONG]) + "\n")
    said, _, _ = api.run([str(code), f"--cache-dir={tmp_path / 'cache'}"])
    for line, error in enumerate(WRONG.values(), 3):
        assert any(f"calls.py:{line}:" in words and f"[{error}]" in words for words in said.splitlines()), (
            said
        )
