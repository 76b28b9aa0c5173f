"""Random graphs of relax, computed operator by operator with numpy: what tests/relax/test_random_graphs.py runs.

PYTHONPATH=tests python -m random_graphs SEED       prints the graph of a seed
"""

from .generate import generate
from .graph import Graph, InputError, evaluate
from .shrink import shrink

__all__ = ["Graph", "InputError", "evaluate", "generate", "shrink"]
