"""Imbalanced classes.

Where one class is rare, a machine that counts all rows alike learns to answer with the other one.
`class_weight` says what a row of each class counts; "balanced" gives all classes the same total
weight.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.metrics import ConfusionMatrixDisplay, balanced_accuracy_score, precision_score, recall_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sodm import ODMClassifier

X, y = make_classification(
    6000, n_features=12, n_informative=6, weights=[0.96], flip_y=0.01, class_sep=0.7, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
print(f"{y_train.mean():.1%} of the rows are of the rare class")

# %%
# With more weight on the rare class more of it is found, and more rows of the other class are taken
# for it. Which exchange is right depends on what the two mistakes cost; a dictionary says it in
# between.

weights = {"all alike": None, "rare class 5 times": {0: 1, 1: 5}, "balanced": "balanced"}
machines = {}
print(f"{'class_weight':20} {'recall':>8} {'precision':>10} {'balanced accuracy':>18}")
for name, class_weight in weights.items():
    machine = make_pipeline(StandardScaler(), ODMClassifier(lam=100.0, class_weight=class_weight))
    machines[name] = machine.fit(X_train, y_train)
    answer = machine.predict(X_test)
    recall, precision = recall_score(y_test, answer), precision_score(y_test, answer)
    print(f"{name:20} {recall:8.1%} {precision:10.1%} {balanced_accuracy_score(y_test, answer):18.1%}")

# %%

fig, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
for ax, (name, machine) in zip(axes, machines.items(), strict=True):
    ConfusionMatrixDisplay.from_estimator(machine, X_test, y_test, ax=ax, colorbar=False, cmap="Blues")
    ax.set_title(name)
plt.show()
