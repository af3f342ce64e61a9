"""Scalable optimal margin distribution machines."""

from sodm.estimators.odm import ODMClassifier
from sodm.estimators.sodm import SODMClassifier
from sodm.plots.margins import MarginDistributionDisplay

__version__ = "0.1.0"

__all__ = ["MarginDistributionDisplay", "ODMClassifier", "SODMClassifier"]
