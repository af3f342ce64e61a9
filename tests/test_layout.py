"""The code is built in floors (docs/layout.md): nothing imports what stands above it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import sodm

ROOT = Path(sodm.__file__).parent
FLOORS = [  # from the ground up; rooms of one floor do not know each other, but for the topmost
    {"files", "problem", "engines"},
    {"partition", "data"},
    {"solvers"},
    {"training"},
    {"trees", "search"},
    {"estimators"},
    {"model", "plots", "shapley"},
    {"spark"},
    {"cli", "bench", "demo"},
]
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
TOP = len(FLOORS) - 1


def imports(path: Path) -> Iterator[str]:
    """The names of sodm that a file imports, anywhere in it."""
    package = ("sodm", *path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*start, *([node.module] if node.module else [])))
            yield from (f"{module}.{name.name}" for name in node.names)


def test_every_room_has_a_floor() -> None:
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")} | {"files"}
    assert rooms == set(FLOOR_OF)


def test_nothing_imports_upwards() -> None:
    upwards = []
    for path in sorted(ROOT.rglob("*.py")):
        if path.parent == ROOT and path.stem not in FLOOR_OF:
            continue
        room = path.relative_to(ROOT).parts[0].removesuffix(".py")
        for name in imports(path):
            if not name.startswith("sodm."):
                continue
            # A class of the package itself is an estimator.
            used = (
                "estimators"
                if name.endswith(("Classifier", "Regressor")) and name.count(".") == 1
                else name.split(".")[1]
            )
            if used in FLOOR_OF and used != room and FLOOR_OF[used] >= FLOOR_OF[room] < TOP:
                upwards.append(f"{path.relative_to(ROOT)} imports {name}")
    assert upwards == []


def test_the_page_names_every_room() -> None:
    page = (Path(__file__).parent.parent / "docs" / "layout.md").read_text()
    picture = (Path(__file__).parent.parent / "docs" / "layout.svg").read_text()
    for room in set(FLOOR_OF) - {"files"}:
        assert f"| `{room}/` |" in page and room in picture
