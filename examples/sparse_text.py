"""Sparse text with the linear machine.

Documents as counts of words are wide and almost empty: the place for a linear machine that never
writes the zeros out. The text is generated, so nothing is downloaded: two kinds of reports that
share most of their words.
"""

import textwrap

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from sodm import LinearODMClassifier

SEA = ["harbour", "tide", "anchor", "sail", "wave", "hull", "crew", "storm", "deck", "mast", "keel"]
LAND = ["valley", "ridge", "trail", "summit", "snow", "camp", "rope", "boot", "glacier", "cliff", "tent"]
rng = np.random.default_rng(0)
common = [f"{a}{b}" for a in ("ba", "ke", "lo", "mi", "su", "ta") for b in ("n", "rd", "lk", "st", "v", "m")]
rare = np.array([f"w{k}" for k in range(20_000)])  # names and numbers, each seen a few times


def report(words: list[str], other: list[str]) -> str:
    """Sixty words: mostly common ones, some rare ones, up to three of the subject, one of the other."""
    subject = rng.choice(words, rng.integers(1, 4))
    return " ".join([*rng.choice(common, 45), *rng.choice(rare, 12), *subject, *rng.choice(other, 1)])


y = rng.choice(["sea", "land"], 6000)
texts = [report(SEA, LAND) if label == "sea" else report(LAND, SEA) for label in y]
print(textwrap.fill(texts[0], 100))

# %%
# TF-IDF turns every document into one sparse row.

train, test, y_train, y_test = train_test_split(texts, y, random_state=0)
words = TfidfVectorizer()
X_train, X_test = words.fit_transform(train), words.transform(test)
share = X_train.nnz / np.prod(X_train.shape)
print(f"{X_train.shape[0]} rows, {X_train.shape[1]} features, {share:.2%} of the values not zero")

# %%
# The machine takes the sparse matrix as it is. `dual_gap_` proves how near to optimal the solution
# is.

odm, svm = LinearODMClassifier().fit(X_train, y_train), LinearSVC().fit(X_train, y_train)
for machine in (odm, svm):
    print(f"{type(machine).__name__}: {machine.score(X_test, y_test):.2%} of the test rows right")
print(f"{odm.n_iter_} Newton steps, relative duality gap {odm.dual_gap_:.1e}")

# %%
# The coefficients name the words that decide.

names, weights = words.get_feature_names_out(), odm.coef_[0]
order = np.argsort(weights)
shown = np.concatenate([order[:11], order[-11:]])
fig, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
ax.barh(range(22), weights[shown], color=["C0"] * 11 + ["C1"] * 11)
ax.set_yticks(range(22), names[shown])
ax.set_xlabel(f"coefficient: {odm.classes_[0]} to the left, {odm.classes_[1]} to the right")
plt.show()
