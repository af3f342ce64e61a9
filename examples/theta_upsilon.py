"""Choosing theta and upsilon.

`theta` is half the width of the zone in which margins cost nothing, `upsilon` the discount on
margins above it. What do they do to accuracy, to the number of support vectors and to the margins?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import train_test_split

from sodm import ODMClassifier

X, y = make_moons(3000, noise=0.3, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

# %%
# ## theta
#
# The loss is divided by (1 - theta)², so a larger theta also makes the loss steeper. To change the
# width of the zone alone, `lam` must fall with (1 - theta)². Below, the steepness is the same in
# all rows.

CURVATURE = 2000.0
thetas = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 0.9])
print("theta   lam   test accuracy   support vectors")
support = []
for theta in thetas:
    machine = ODMClassifier(gamma=2.0, lam=CURVATURE * (1 - theta) ** 2, theta=theta).fit(X_train, y_train)
    support.append(len(machine.support_))
    print(f"{theta:5.1f} {machine.lam:5.0f} {machine.score(X_test, y_test):15.2%} {support[-1]:17d}")

# %%
# Accuracy hardly moves, while the machine becomes sparser: rows with margins inside the zone are no
# support vectors, and a machine with fewer of them decides faster.

fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(thetas, support, "o-")
ax.set(xlabel="theta, at the same steepness", ylabel="support vectors", ylim=(0, 1550))
plt.show()

# %%
# ## upsilon
#
# upsilon acts on margins above 1 + theta. With a narrow zone there are many, and a small upsilon
# lets them go: the distribution grows a tail to the right, and the machine comes near a support
# vector machine with squared hinge loss.

fig, axes = plt.subplots(1, 3, figsize=(10, 3), sharex=True, sharey=True, layout="constrained")
for ax, upsilon in zip(axes, (0.01, 0.3, 1.0), strict=True):
    machine = ODMClassifier(gamma=2.0, lam=500.0, theta=0.1, upsilon=upsilon).fit(X_train, y_train)
    margins = np.where(y_test == 1, 1, -1) * machine.decision_function(X_test)
    ax.hist(margins, bins=np.linspace(-3, 4, 60))
    ax.axvspan(0.9, 1.1, color="C1", alpha=0.3)
    ax.set(xlabel="margin", title=f"upsilon = {upsilon:g}: {np.mean(margins > 0):.2%} right")
plt.show()
