"""MLflow's own saving of scikit-learn models, told which classes of a machine are ours.

MLflow stores scikit-learn models with skops, which loads no class that nobody has vouched for. To save a
model through this module is to vouch for ours; the names go into the model, and `mlflow.sklearn.load_model`
and `mlflow.pyfunc.load_model` find them there.
"""

from __future__ import annotations

from typing import Any

from sodm.model.machines import TRUSTED_TYPES


def log_model(model: Any, *arguments: Any, **options: Any) -> Any:
    """As `mlflow.sklearn.log_model`, for a machine of ours, alone or in a pipeline.

    Parameters
    ----------
    model : machine or Pipeline, fitted
    *arguments, **options
        Those of `mlflow.sklearn.log_model`, such as ``name="model"``. `skops_trusted_types` are added to
        ours.

    Returns
    -------
    ModelInfo
        MLflow's; its `model_uri` is what `mlflow.sklearn.load_model` takes.
    """
    return _sklearn().log_model(model, *arguments, **_declared(options))


def save_model(model: Any, path: Any, *arguments: Any, **options: Any) -> None:
    """As `mlflow.sklearn.save_model`, for a machine of ours, alone or in a pipeline.

    Parameters
    ----------
    model : machine or Pipeline, fitted
    path : path
        A folder that is not there yet.
    *arguments, **options
        Those of `mlflow.sklearn.save_model`. `skops_trusted_types` are added to ours.
    """
    _sklearn().save_model(model, path, *arguments, **_declared(options))


def _declared(options: dict[str, Any]) -> dict[str, Any]:
    return {**options, "skops_trusted_types": [*TRUSTED_TYPES, *(options.get("skops_trusted_types") or ())]}


def _sklearn() -> Any:
    try:
        import mlflow.sklearn
    except ImportError as error:
        raise ImportError("sodm.mlflow needs MLflow: pip install mlflow skops") from error
    return mlflow.sklearn
