"""What the documents promise holds."""

import re
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale

import sodm
from sodm.estimators import defaults

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_readme_example_runs():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    X_train, X_test, y_train, y_test = train_test_split(*load_breast_cancer(return_X_y=True), random_state=0)
    names = {"X_train": X_train, "X_test": X_test, "y_train": y_train, "y_test": y_test}
    exec(example, names)
    assert names["machine"].score(X_test, y_test) > 0.9


# Pages that begin with nothing, and pages that take rows and a machine for granted.
WHOLE = ["index.md", "coming-from.md"]
GIVEN = [
    "models.md",
    "parameters.md",
    "partitions.md",
    "regions.md",
    "regression.md",
    "trees.md",
]


def given():
    """What a reader of a guide has at hand."""
    X, y = load_breast_cancer(return_X_y=True)
    X = minmax_scale(X)
    parts = dict(zip(("X_train", "X_test", "y_train", "y_test"), train_test_split(X, y), strict=True))
    names = {name: getattr(sodm, name) for name in sodm.__all__}
    return names | parts | {"X": X, "y": y, "sodm": sodm, "machine": sodm.ODMClassifier().fit(X, y)}


@pytest.mark.parametrize("page", WHOLE + GIVEN)
def test_code_of_a_page_runs(page, tmp_path, monkeypatch):
    """One block after the other, as a reader would type them; their own asserts included."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(), re.S)
    assert blocks
    names = given() if page in GIVEN else {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if target.startswith("gallery/"):  # made of examples/ when the site is built
            target = "index.md" if target == "gallery/index.md" else f"../examples/{Path(target).stem}.py"
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} points to {target}, which is not there"


def test_defaults_page_names_the_defaults_in_use():
    page = (ROOT / "docs" / "defaults.md").read_text()
    for name in ("upsilon", "theta"):
        assert f"{name} = {getattr(defaults, name.upper()):g}" in page
    assert defaults.LAM_PER_ROW == 0.25 and "a quarter of" in page


def test_the_version_is_the_same_everywhere():
    import importlib.metadata

    root = Path(__file__).parent.parent
    assert f"version: {sodm.__version__}\n" in (root / "CITATION.cff").read_text()
    assert importlib.metadata.version("sodm") == sodm.__version__


def test_workflows_are_yaml_with_jobs():
    yaml = pytest.importorskip("yaml")
    for path in (Path(__file__).parent.parent / ".github" / "workflows").glob("*.yml"):
        assert yaml.safe_load(path.read_text())["jobs"]
