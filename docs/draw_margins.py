"""Draws docs/margins.svg: margins of ODM and SVM on rows neither has seen.

python docs/draw_margins.py
"""

from pathlib import Path

import matplotlib
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from sodm import MarginDistributionDisplay, ODMClassifier

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "sodm"  # the same picture gives the same file

X, y = load_digits(return_X_y=True)
even = y % 2 == 0
display = None
for machine in (ODMClassifier(), SVC()):
    pipeline = make_pipeline(MinMaxScaler(clip=True), machine)
    decision = cross_val_predict(pipeline, X, even, cv=5, method="decision_function")
    display = MarginDistributionDisplay.from_predictions(
        even,
        decision,
        theta=getattr(machine, "theta", None),
        name=type(machine).__name__,
        ax=display and display.ax_,
    )
display.ax_.set_xlabel("margin  y f(x)   (even or odd? 1,797 handwritten digits, 5-fold cross-validation)")
display.figure_.savefig(Path(__file__).with_name("margins.svg"), metadata={"Date": None})
