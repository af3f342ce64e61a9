"""Writes the model files that later versions must still load. Run once per format version, then keep."""

import json
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_iris, make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import sodm
from sodm.model.container import VERSION

HERE = Path(__file__).parent


def store(name: str, model: object, queries: np.ndarray) -> None:
    path = HERE / f"model-v{VERSION}-{name}.sodm"
    if path.exists():
        raise SystemExit(f"{path} is there already: files of a released version are never written again.")
    sodm.save(model, path, summary={"rows": 60})
    known = {
        "queries": queries.tolist(),
        "decision": model.decision_function(queries).tolist(),
        "labels": model.predict(queries).tolist(),
    }
    path.with_suffix(".json").write_text(json.dumps(known))


X, y = load_iris(return_X_y=True)
names = np.array(["setosa", "versicolor", "virginica"])
rbf = make_pipeline(MinMaxScaler(), sodm.ODMClassifier(theta=0.5)).fit(X[::3], names[y[::3]])
store("rbf", rbf, X[1::20])
X, y = make_classification(60, 8, random_state=0)
X = np.round(np.where(np.abs(X) > 1, X, 0), 3)
poly = sodm.ODMClassifier(kernel="poly", degree=2, coef0=1.0, fit_intercept=True, theta=0.6)
store("sparse", poly.fit(sparse.csr_matrix(X), y), X[::6])
