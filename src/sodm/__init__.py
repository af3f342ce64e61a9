"""Scalable optimal margin distribution machines."""

from sodm import data, model
from sodm.estimators.linear import LinearODMClassifier
from sodm.estimators.odm import ODMClassifier
from sodm.model.io import load, save
from sodm.plots.margins import MarginDistributionDisplay

__version__ = "0.1.0"

__all__ = [
    "LinearODMClassifier",
    "MarginDistributionDisplay",
    "ODMClassifier",
    "data",
    "load",
    "model",
    "save",
]
