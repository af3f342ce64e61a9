"""Choosing theta and upsilon.

`theta` is half the width of the zone in which margins cost nothing, `upsilon` the discount on
margins above it. What do they do to accuracy, to the number of support vectors and to the margins?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from sodm import LinearODMClassifier, ODMClassifier

X, y = make_moons(3000, noise=0.3, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

# %%
# ## theta
#
# At a given `lam`, a larger theta makes a sparser machine: rows with margins inside the zone are no
# support vectors, and a machine with fewer of them decides faster. But two things change at once. The
# loss is divided by (1 - theta)², so it becomes steeper; and the zone becomes wider.
#
# To tell them apart, let `lam` fall with (1 - theta)², so that the steepness stays the same.

thetas = np.array([0.0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9])
settings = {"the same lam": np.full(8, 50.0), "the same steepness": 50.0 * ((1 - thetas) / 0.4) ** 2}
support = {}
for name, lams in settings.items():
    fitted = [
        ODMClassifier(gamma=2.0, lam=lam, theta=theta, random_state=0).fit(X_train, y_train)
        for lam, theta in zip(lams, thetas, strict=True)
    ]
    support[name] = [len(machine.support_) for machine in fitted]
    print(f"{name}:")
    for machine in fitted:
        score = machine.score(X_test, y_test)
        print(f"  theta {machine.theta:4.2f}  {score:.2%} right  {len(machine.support_):4d} support vectors")

# %%
# Accuracy hardly moves. At the same steepness only the width counts: with theta = 0 every row is a
# support vector, and as soon as the zone reaches up to the largest margins, widening it further
# changes nothing at all. What theta does beyond that, `lam` can do as well. These moons are noisy;
# where classes are clear, margins that are free to grow make a better machine: take theta = 0.9 there.

fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for name, counts in support.items():
    ax.plot(thetas, counts, "o-", label=name)
ax.set(xlabel="theta", ylabel="support vectors", ylim=(0, 1550))
ax.legend()
plt.show()

# %%
# ## upsilon
#
# upsilon acts on margins above 1 + theta. It matters where there are many: when the zone is narrow and
# some rows are much easier than others, as for a linear machine. A small upsilon lets those margins go,
# as a support vector machine with squared hinge loss does; with upsilon = 1 they are pulled back as
# strongly as the small ones are pushed up.

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
scaler = MinMaxScaler().fit(X_train)
fig, axes = plt.subplots(1, 3, figsize=(10, 3), sharex=True, sharey=True, layout="constrained")
for ax, upsilon in zip(axes, (0.01, 0.3, 1.0), strict=True):
    machine = LinearODMClassifier(theta=0.1, upsilon=upsilon).fit(scaler.transform(X_train), y_train)
    margins = np.where(y_test == 1, 1, -1) * machine.decision_function(scaler.transform(X_test))
    print(f"upsilon {upsilon:4.2f}: mean / standard deviation = {margins.mean() / margins.std():.2f}")
    ax.hist(margins, bins=np.linspace(-2, 5, 50))
    ax.axvspan(0.9, 1.1, color="C1", alpha=0.3)
    ax.set(xlabel="margin", title=f"upsilon = {upsilon:g}: {np.mean(margins > 0):.1%} right")
plt.show()
