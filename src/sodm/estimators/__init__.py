"""scikit-learn estimators: parameters, validation, labels and fitted attributes. No mathematics."""
