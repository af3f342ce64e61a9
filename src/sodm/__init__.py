"""Scalable optimal margin distribution machines."""

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

__version__ = "0.2.0"  # the one place: the build reads it here

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
