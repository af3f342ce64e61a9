"""Scalable optimal margin distribution machines."""

from sodm.estimators.odm import ODMClassifier

__version__ = "0.1.0"
__all__ = ["ODMClassifier"]
