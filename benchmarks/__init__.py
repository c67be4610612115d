"""Benchmarks: figures that prove speed, as ratios measured side by side in one run.

``python -m benchmarks NAME [--quick] [--json]`` runs one, ``python -m benchmarks`` all.
"""
