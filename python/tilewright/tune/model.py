"""Cost models: which candidates are likely to be fast, before they are measured."""

import importlib.util
import os
from functools import cache
from pathlib import Path

from .. import _core
from ..errors import Unsupported, UserError
from ..ir.module import unwrapped
from ..schedule import Schedule
from ..target import Target


@cache
def xgboost_library() -> str | None:
    """The path of XGBoost's library: that of the environment variable TILEWRIGHT_XGBOOST, or of the installed Python
    package, which is not imported; None: there is none that can be opened.

    Raises UserError if the variable names a file that is no such library
    >>> tilewright.tune.xgboost_library()
    """
    named = os.environ.get("TILEWRIGHT_XGBOOST")
    if named is not None:
        _core.xgboost_version(named)
        return named
    found = importlib.util.find_spec("xgboost")
    for folder in (found.submodule_search_locations or []) if found else []:
        for path in sorted((Path(folder) / "lib").glob("libxgboost.*")):
            try:
                _core.xgboost_version(str(path))
            except UserError:
                continue
            return str(path)
    return None


def _module_of(mod):
    return unwrapped(Schedule(mod).mod)


class RandomModel(_core.RandomModel):
    """Scores that are drawn at random, the same for the same seed.

    seed  default 0
    >>> tilewright.tune.tune(mm, database=tilewright.tune.RecordFile(), trials=4, cost_model=tilewright.tune.RandomModel(1))
    """

    def __init__(self, seed: int = 0):
        super().__init__(seed)


class AnalyticModel(_core.AnalyticModel):
    """Scores by what a candidate takes from the units, caches and memory of the machine by its description.

    It needs no measurement: 16 candidates that it prefers are mostly as good as all. Its figures are in
    tilewright/tune/model_costs.h, each with its source.

    target  text or Target; default "llvm", this machine
    >>> tilewright.tune.AnalyticModel("llvm -mcpu=znver4").seconds(MyModule)
    """

    def __init__(self, target="llvm"):
        super().__init__(Target(target))

    def seconds(self, mod) -> float:
        """The predicted time of one call of the loop programs in `mod`, a module or PrimFunc, in s; errors of it are the same for all
        schedules of a kernel, mostly."""
        return super().seconds(_module_of(mod))


class GpuModel(_core.GpuModel):
    """Scores by what the kernels of a candidate take from a GPU: instructions, shared memory and the cache that all share.

    The default schedules choose tiles by the same terms. A candidate that has no measured time is ranked by it.

    target  text or Target of a GPU
    Raises  UserError for other targets
    >>> tilewright.tune.GpuModel("nvidia/nvidia-h100").cycles(MyModule)
    """

    def __init__(self, target):
        super().__init__(Target(target))

    def cycles(self, mod) -> float:
        """The predicted cycles of the loop programs in `mod`, a scheduled module or PrimFunc; infinity if the GPU does not run it."""
        return super().cycles(_module_of(mod))

    def why_beyond(self, mod) -> str:
        """Why the GPU does not run `mod`, or it is not worth building, e.g. for its threads or shared memory; "": it does."""
        return super().why_beyond(_module_of(mod))


class BoostedModel(_core.BoostedModel):
    """Trees of XGBoost that learn from measurements how far the analytic model is from the machine.

    Until eight candidates were measured its scores are those of AnalyticModel. The same seed and measurements give
    the same scores. Source: Chen and Guestrin, "XGBoost", KDD 2016.

    target  text or Target; default "llvm", this machine
    seed    default 0
    Raises  Unsupported if XGBoost is not installed
    >>> model = tilewright.tune.BoostedModel("llvm -num-cores=1")
    """

    def __init__(self, target="llvm", seed: int = 0):
        library = xgboost_library()
        if library is None:
            raise Unsupported(
                "BoostedModel needs the library of XGBoost, which is not installed\n"
                "help: pip install 'tilewright[xgboost]', or use tune.AnalyticModel"
            )
        super().__init__(Target(target), library, seed)


def default_model(target="llvm", seed: int = 0):
    """The cost model that tune() uses: a BoostedModel, or an AnalyticModel where XGBoost is not installed; a GpuModel for GPUs.

    target, seed  as in BoostedModel
    >>> tilewright.tune.default_model("llvm -num-cores=1")
    """
    if _core.is_gpu(Target(target)):
        return GpuModel(target)
    return BoostedModel(target, seed) if xgboost_library() else AnalyticModel(target)


def program_features(mod, target="llvm") -> dict[str, float]:
    """What cost models that learn see of the loop programs in `mod`: {name: number}.

    mod     a module or PrimFunc, scheduled or not; names of accesses are of the store that takes longest
    target  text or Target; default "llvm", this machine
    >>> tilewright.tune.program_features(mm, "llvm -num-cores=1")["lanes"]
    """
    return _core.program_features(_module_of(mod), Target(target))
