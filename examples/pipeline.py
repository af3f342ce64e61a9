"""A pipeline, a grid search and calibrated probabilities.

The machines are scikit-learn classifiers, so scikit-learn's own tools do the rest: scaling in a
`Pipeline`, `lam` and `gamma` by `GridSearchCV`, probabilities by `CalibratedClassifierCV`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_moons
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from sodm import ODMClassifier

X, y = make_moons(4000, noise=0.35, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

# %%
# Powers of four are steps enough for both parameters; theta and upsilon can stay as they are, as these
# moons are noisy (for clear classes take theta = 0.9).

search = GridSearchCV(
    make_pipeline(MinMaxScaler(), ODMClassifier()),
    {
        "odmclassifier__lam": [2.0**k for k in (2, 4, 6, 8, 10, 12)],
        "odmclassifier__gamma": [2.0**k for k in (0, 2, 4, 6)],
    },
    cv=3,
).fit(X_train, y_train)
print("best:", search.best_params_)
print(f"cross-validated {search.best_score_:.2%}, on the test rows {search.score(X_test, y_test):.2%}")

# %%

scores = search.cv_results_["mean_test_score"].reshape(4, 6)
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
image = ax.imshow(scores, origin="lower", cmap="viridis")
ax.set_xticks(range(6), [f"2^{k}" for k in (2, 4, 6, 8, 10, 12)])
ax.set_yticks(range(4), [f"2^{k}" for k in (0, 2, 4, 6)])
ax.set(xlabel="lam", ylabel="gamma", title="cross-validated accuracy")
fig.colorbar(image)
plt.show()

# %%
# A decision value is no probability. `CalibratedClassifierCV` fits a curve from one to the other on
# rows that the machine was not trained on.

calibrated = CalibratedClassifierCV(search.best_estimator_, method="isotonic", cv=5).fit(X_train, y_train)
probability = calibrated.predict_proba(X_test)[:, 1]
constant = np.full_like(probability, y_train.mean())
print(
    f"Brier score {brier_score_loss(y_test, probability):.3f}; without looking at the rows, "
    f"{brier_score_loss(y_test, constant):.3f}"
)

# %%
# Among the rows given a probability of 70 %, about 70 % should be of that class.

fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
CalibrationDisplay.from_predictions(y_test, probability, n_bins=10, ax=ax, name="ODM, calibrated")
plt.show()
