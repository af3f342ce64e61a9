"""Training that can be stopped at any time.

`SODMClassifier` solves parts of the rows, merges them, and solves again. After each level there is
a machine that can be used, so training can be watched, ended by a rule, or ended by the clock.
`history_` tells how it went.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from sodm import ODMClassifier, SODMClassifier

rng = np.random.default_rng(0)
X = rng.uniform(size=(16_000, 2))
y = np.floor(8 * X).sum(axis=1) % 2  # a chessboard of 8 x 8 squares
y = np.where(rng.uniform(size=len(y)) < 0.05, 1 - y, y)  # one label in twenty is wrong
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)

# %%
# `stop_tol=0` and `refine=True` go all the way, for the sake of the picture: 32 parts, 16, 8, 4, 2,
# and the exact solution at last. `eval_set` is only looked at, never trained on.

machine = SODMClassifier(gamma=100.0, n_partitions=32, stop_tol=0, refine=True, random_state=0)
machine.fit(X_train, y_train, eval_set=(X_test, y_test))
print("parts   accuracy   decisions changed   duality gap   support vectors")
for r in machine.history_:
    changed = "" if r["changed"] is None else f"{r['changed']:.2%}"
    print(f"{r['n_partitions']:5d} {r['accuracy']:10.2%} {changed:>19} {r['gap']:13.1e} {r['n_support']:17d}")
print("stopped by:", machine.stop_reason_)

# %%
# Accuracy is there long before the objective is: that is why stopping early pays.

levels = machine.history_
seconds = [r["elapsed"] for r in levels]
fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(seconds, [r["accuracy"] for r in levels], "o-", label="test accuracy")
for r in levels:
    ax.annotate(
        f"{r['n_partitions']}", (r["elapsed"], r["accuracy"]), (0, 7), textcoords="offset points", ha="center"
    )
ax.set(xlabel="seconds of training; the numbers are parts", ylabel="test accuracy")
gap = ax.twinx()
gap.plot(seconds, [max(r["gap"], 1e-6) for r in levels], "s--", color="C1", label="duality gap")
gap.set(yscale="log", ylabel="relative duality gap")
fig.legend(loc="outside upper center", ncols=2, frameon=False)
plt.show()

# %%
# Left to itself the machine stops as soon as no more than 1 % of the decisions change from one
# level to the next.

quick = SODMClassifier(gamma=100.0, n_partitions=32, random_state=0).fit(X_train, y_train)
exact = ODMClassifier(gamma=100.0, random_state=0).fit(X_train, y_train)
print([r["n_partitions"] for r in quick.history_], "parts, stopped by:", quick.stop_reason_)
print(f"accuracy {quick.score(X_test, y_test):.2%}, of the exact machine {exact.score(X_test, y_test):.2%}")
print(f"decided alike: {(quick.predict(X_test) == exact.predict(X_test)).mean():.2%}")
