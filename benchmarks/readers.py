"""Speed of the text readers: `python benchmarks/readers.py [MB]`, ijcnn1 repeated, and scikit-learn's reader.

All sides run in the same process, one after the other, on a file that is in memory; printed is
the best of three.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from sodm import data
from sodm.data.streams import blocks

BAR_MB_PER_SECOND = 150  # what the LIBSVM reader has to reach on two cores


def best(call, repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    megabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 200
    source = next(Path(os.environ["SODM_DATA"]).glob("ijcnn1.libsvm*"))
    text = b"".join(blocks(source))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ijcnn1")
        path.write_bytes(text * max(1, round(megabytes * 1e6 / len(text))))
        size = path.stat().st_size / 1e6
        for n_threads in (1, 2):
            seconds = best(lambda n=n_threads: data.read_libsvm(path, n_threads=n))
            bar = f", bar: {BAR_MB_PER_SECOND} MB/s" if n_threads == 2 else ""
            print(f"LIBSVM text, {n_threads} thread(s): {size / seconds:6.0f} MB/s  ({size:.0f} MB{bar})")
        data.read_libsvm(path, cache=True)
        seconds = best(lambda: data.read_libsvm(path, cache=True))
        print(f"LIBSVM text, from the cache: {size / seconds:4.0f} MB/s, hashing the file included")
        one = Path(folder, "once")
        one.write_bytes(text)
        seconds = best(lambda: load_svmlight_file(str(one)), 1)
        print(
            f"scikit-learn:                {len(text) / 1e6 / seconds:4.0f} MB/s  ({len(text) / 1e6:.0f} MB)"
        )
        X, y = data.read_libsvm(one)
        table = Path(folder, "table.csv")
        np.savetxt(table, np.column_stack([y, X.toarray()]), fmt="%.7g", delimiter=",")
        size = table.stat().st_size / 1e6
        for n_threads in (1, 2):
            seconds = best(lambda n=n_threads: data.read_csv(table, label=0, n_threads=n))
            print(f"CSV, {n_threads} thread(s):         {size / seconds:6.0f} MB/s  ({size:.0f} MB)")
    seconds = best(lambda: data.read_libsvm(source))
    print(f"LIBSVM text, {source.suffix}:           {len(text) / 1e6 / seconds:4.0f} MB/s of text")


if __name__ == "__main__":
    main()
