"""Scalable optimal margin distribution machines."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

__version__ = "0.2.0"  # the one place: the build reads it here

# Where the names of this package are. They are loaded when they are asked for, and so are its modules: what
# estimators need, scikit-learn above all, takes a second or two to load, and the Python processes of a
# cluster's executors have no use for it.
_LATER = {
    "CascadeClassifier": "estimators.cascade",
    "DCClassifier": "estimators.dc",
    "DiPClassifier": "estimators.dip",
    "LinearODMClassifier": "estimators.linear",
    "LinearODMRegressor": "estimators.linear_regressor",
    "MarginDistributionDisplay": "plots.margins",
    "ODMClassifier": "estimators.odm",
    "ODMClassifierCV": "estimators.odm_cv",
    "ODMRegressor": "estimators.odm_regressor",
    "ODMRegressorCV": "estimators.odm_regressor_cv",
    "SODMClassifier": "estimators.sodm",
    "SODMRegressor": "estimators.sodm_regressor",
    "SearchDisplay": "plots.search",
    "explain": "shapley.explain",
    "load": "model.loading",
    "save": "model.saving",
}

__all__ = [
    "CascadeClassifier",
    "DCClassifier",
    "DiPClassifier",
    "LinearODMClassifier",
    "LinearODMRegressor",
    "MarginDistributionDisplay",
    "ODMClassifier",
    "ODMClassifierCV",
    "ODMRegressor",
    "ODMRegressorCV",
    "SODMClassifier",
    "SODMRegressor",
    "SearchDisplay",
    "data",
    "explain",
    "load",
    "model",
    "save",
]

if TYPE_CHECKING:
    from sodm import data, model
    from sodm.estimators.cascade import CascadeClassifier
    from sodm.estimators.dc import DCClassifier
    from sodm.estimators.dip import DiPClassifier
    from sodm.estimators.linear import LinearODMClassifier
    from sodm.estimators.linear_regressor import LinearODMRegressor
    from sodm.estimators.odm import ODMClassifier
    from sodm.estimators.odm_cv import ODMClassifierCV
    from sodm.estimators.odm_regressor import ODMRegressor
    from sodm.estimators.odm_regressor_cv import ODMRegressorCV
    from sodm.estimators.sodm import SODMClassifier
    from sodm.estimators.sodm_regressor import SODMRegressor
    from sodm.model.loading import load
    from sodm.model.saving import save
    from sodm.plots.margins import MarginDistributionDisplay
    from sodm.plots.search import SearchDisplay
    from sodm.shapley.explain import explain
else:

    def __getattr__(name: str) -> object:
        if name in _LATER:
            return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
        if find_spec(f"{__name__}.{name}") is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module(f"{__name__}.{name}")

    def __dir__() -> list[str]:
        return list(__all__)
