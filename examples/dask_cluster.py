"""Have a Dask cluster compile the PyTorch graphs; needs ``pip install 'twinjit[dask]'``.

Give the address of a scheduler, or none to start a cluster of two processes here.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import distributed

import twinjit

GRAPHS = sorted(
    path for path in Path(__file__).parent.glob("*.mlir") if path.with_suffix(".npz").exists()
)


def main(*address: str) -> None:
    """Compile all graphs twice."""
    cluster = address or (distributed.LocalCluster(n_workers=2, threads_per_worker=1),)
    with distributed.Client(*cluster) as client:
        compiler = twinjit.Compiler(cache=False, executor=client)
        for turn in ("first", "second"):
            start = time.perf_counter()
            with ThreadPoolExecutor(len(GRAPHS)) as threads:  # which wait
                executables = list(threads.map(compiler.compile, GRAPHS))
            seconds = time.perf_counter() - start
            tiers = ", ".join(sorted({each.report.tier for each in executables}))
            print(f"{turn}: {len(GRAPHS)} graphs in {seconds:.2f} s ({tiers})")


if __name__ == "__main__":  # the cluster's processes import this file
    main(*sys.argv[1:])
