"""Margin distributions: ODM against SVM.

A support vector machine pushes the smallest margins up and does not care how far the others lie
above 1. The optimal margin distribution machine pulls all of them into a zone around 1. Here both
learn to tell even digits from odd ones, and we look at the margins of digits that neither has seen.
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from sodm import MarginDistributionDisplay, ODMClassifier

X, y = load_digits(return_X_y=True)
even = y % 2 == 0
X_train, X_test, y_train, y_test = train_test_split(X, even, test_size=0.5, random_state=0)

# %%
# Both machines come with their defaults, behind the same scaler.

odm = make_pipeline(MinMaxScaler(), ODMClassifier()).fit(X_train, y_train)
svm = make_pipeline(MinMaxScaler(), SVC()).fit(X_train, y_train)
for name, machine in {"ODM": odm, "SVM": svm}.items():
    print(f"{name}: {machine.score(X_test, y_test):.2%} of the test rows right")

# %%
# `MarginDistributionDisplay` draws the margins of any classifier with a decision function. Drawn on
# the same axes, two machines can be compared: the histograms, the cumulative curves, and in the
# legend mean, variance and the share of margins below 0, which is the error rate.

display = MarginDistributionDisplay.from_estimator(odm, X_test, y_test)
other = MarginDistributionDisplay.from_estimator(svm, X_test, y_test, ax=display.ax_)

# %%
# What matters is the mean beside the spread: the margins of a machine can be doubled without
# changing a decision. So the ratio of the two is the number to compare.

for name, shown in {"ODM": display, "SVM": other}.items():
    print(f"{name}: mean / standard deviation = {shown.mean / shown.variance**0.5:.2f}")
