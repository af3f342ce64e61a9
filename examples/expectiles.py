"""A fan of expectiles.

A prediction is a line through the middle of the targets. How far do they spread around it? Expectiles answer
as quantiles do, but with squared errors: `upsilon` says how much a prediction above the target counts against
one below it. The machine stays the same, and so does its speed.
"""

import matplotlib.pyplot as plt
import numpy as np

from sodm import ODMRegressor

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 10, 3000))
y = np.sin(x) + x / 5 + rng.exponential(0.1 + 0.08 * x)  # the noise grows, and is not symmetric
X, grid = x[:, None], np.linspace(0, 10, 300)[:, None]

# %%
# ## One machine for each share
#
# `upsilon = (1 - share) / share` gives the expectile of a share. Of a half it is the mean.

shares = [0.01, 0.1, 0.5, 0.9, 0.99]
fan = {}
for share in shares:
    machine = ODMRegressor(upsilon=(1 - share) / share, gamma=0.5, lam=3000).fit(X, y)
    fan[share] = machine.predict(grid)
    below = np.mean(y < machine.predict(X))
    print(f"expectile {share:4.2f}: {below:.0%} of the targets are below it")

# %%
# The band between the outer ones is narrow where the noise is small, and reaches further up than down.

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(x, y, ".", ms=2, alpha=0.3, color="grey")
ax.fill_between(grid[:, 0], fan[0.01], fan[0.99], alpha=0.15, color="C0")
ax.fill_between(grid[:, 0], fan[0.1], fan[0.9], alpha=0.25, color="C0")
ax.plot(grid, fan[0.5], color="C0", label="mean")
ax.set(xlabel="x", ylabel="y", ylim=(-1, 7))
ax.legend()
plt.show()
