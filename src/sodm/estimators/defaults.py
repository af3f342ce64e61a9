"""Default parameters of the kernel machines, in one place (docs/defaults.md: how they were chosen)."""

LAM_PER_ROW = 0.25  # lam="auto": weight of the loss against the norm, over that of the rows
REGRESSION_LAM = 2000.0  # weight of the loss of regressors
UPSILON = 0.5  # a margin above the dead zone counts half as much as one below it
THETA = 0.6  # half-width of the dead zone
TOL = 1e-3  # relative duality gap; the largest violation may be sqrt(10 tol)
MAX_ITER = 1000  # Newton steps or sweeps of coordinate descent
STOP_TOL = 0.01  # share of decisions that may change from one level of a tree to the next
SCALABLE_FROM = 50_000  # rows from which the scalable machine trains where nobody says which
