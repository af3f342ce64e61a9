"""Why the machine decides so.

`sodm.explain` gives exact Shapley values: what each feature of a row adds to its decision value. An RBF
machine is a sum of products over features, so they need no sampling, and a row takes milliseconds.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from sodm import ODMClassifier, explain

X, y = load_breast_cancer(return_X_y=True, as_frame=True)  # 1: benign
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
machine = make_pipeline(MinMaxScaler(), ODMClassifier()).fit(X_train, y_train)
print(f"accuracy {machine.score(X_test, y_test):.3f}")

# %%
# The background says what an unknown feature could have been: here, the rows of the training. The values of a
# row and the base value, the decision with nothing known, add up to the machine's decision.

explanation = explain(machine, X_test, background=X_train)
whole = explanation.values.sum(axis=1) + explanation.base_values
print(f"largest difference from the decisions: {np.abs(whole - machine.decision_function(X_test)).max():.0e}")

# %%
# One row, the one nearest to the border: what speaks for benign (right), what against it.

row = np.abs(machine.decision_function(X_test)).argmin()
values = explanation.values[row]
order = np.argsort(np.abs(values))[-10:]
names = [f"{explanation.feature_names[j]} = {explanation.data[row, j]:.3g}" for j in order]
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.barh(names, values[order], color=np.where(values[order] > 0, "#2a788e", "#c44e52"))
ax.axvline(0, color="0.3", lw=0.8)
ax.set_xlabel("added to the decision value")
ax.set_title(f"base {explanation.base_values[row]:+.2f}, all features {values.sum():+.2f}: {whole[row]:+.2f}")
plt.show()

# %%
# All rows: the mean size of a feature's values is its importance. Permutation importance asks another
# question, how much accuracy is lost when one column is shuffled. Features that say the same as others, as
# most do here, lose next to none, though the machine uses all of them.

permuted = permutation_importance(machine, X_test, y_test, n_repeats=5, random_state=0).importances_mean
order = np.argsort(explanation.importance())[-12:]
names = np.array(explanation.feature_names)[order]
fig, axes = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True, layout="constrained")
axes[0].barh(names, explanation.importance()[order], color="#2a788e")
axes[0].set_xlabel("mean |Shapley value|")
axes[1].barh(names, 100 * permuted[order], color="#9a9a9a")
axes[1].set_xlabel("accuracy lost by shuffling, in points")
plt.show()
