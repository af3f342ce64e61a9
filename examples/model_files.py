"""Model files: save, load, and run elsewhere.

A fitted machine goes into one `.sodm` file, with its scaler and without pickle. The same machine as
an ONNX file runs where there is no sodm at all.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import sodm

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
machine = make_pipeline(MinMaxScaler(), sodm.ODMClassifier(random_state=0)).fit(X_train, y_train)
folder = Path(tempfile.mkdtemp())

# %%
# What comes back from a `.sodm` file predicts the same, to the last bit.

sodm.save(machine, folder / "digits.sodm", summary={"rows": len(X_train)})
again = sodm.load(folder / "digits.sodm")
print("steps:", [type(step).__name__ for _, step in again.steps])
print("same decisions:", np.array_equal(again.decision_function(X_test), machine.decision_function(X_test)))

# %%
# The header is JSON, and says what is inside without loading it.

header = sodm.model.describe(folder / "digits.sodm")
for name in ("machine", "library", "n_features", "summary"):
    print(f"{name}: {header[name]}")
for name, array in header["arrays"].items():
    print(f"  {name:16} {array['dtype']:>4} {tuple(array['shape'])}")

# %%
# As an ONNX graph of plain operators, in single precision, scaler included.

sodm.model.to_onnx(machine, folder / "digits.onnx")
session = onnxruntime.InferenceSession(folder / "digits.onnx", providers=["CPUExecutionProvider"])
labels, decision = session.run(["label", "decision"], {"X": X_test.astype(np.float32)})
ours = machine.decision_function(X_test)
print("same labels:", np.array_equal(labels, machine.predict(X_test)))
print(f"largest difference of a decision value: {np.abs(decision - ours).max():.1e}")

# %%

fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.plot(ours.ravel(), decision.ravel(), ".", markersize=3)
ax.axline((0, 0), slope=1, color="0.6", linewidth=1, zorder=0)
ax.set(xlabel="decision value, sodm", ylabel="decision value, ONNX runtime")
plt.show()
