"""Scalable optimal margin distribution machines."""

from sodm.estimators.linear import LinearODMClassifier
from sodm.estimators.odm import ODMClassifier
from sodm.plots.margins import MarginDistributionDisplay

__version__ = "0.1.0"

__all__ = ["LinearODMClassifier", "MarginDistributionDisplay", "ODMClassifier"]
