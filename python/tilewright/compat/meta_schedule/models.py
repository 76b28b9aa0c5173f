"""ms.cost_model.XGBModel and ms.feature_extractor."""

from pathlib import Path

import numpy as np

from tilewright import _core, runtime, schedule, tune
from tilewright.errors import Unsupported, UserError

from .spaces import require_default


class CostModel:
    """The base class of cost models written in Python: predict(context, candidates) and update(context, candidates, results)."""

    def load(self, path: str) -> None:
        """Reads the model from a file."""
        raise Unsupported(f"{type(self).__name__} has no method load(path)")

    def save(self, path: str) -> None:
        """Writes the model to a file."""
        raise Unsupported(f"{type(self).__name__} has no method save(path)")

    def update(self, context, candidates: list, results: list) -> None:
        """Learns from what was measured."""

    def predict(self, context, candidates: list):
        """A score for each, higher is faster."""
        raise Unsupported(f"{type(self).__name__} has no method predict(context, candidates)")

    @staticmethod
    def create(kind, *args, **named):
        """The model of a name."""
        return create_model(kind, *args, **named)


class RandomModel(CostModel):
    """Random scores.

    seed       of what it draws; default None, drawn
    path       a file to begin from; default none
    max_range  scores are whole numbers below it; default 100
    """

    def __init__(self, *, seed: int | None = None, path: str | None = None, max_range: int | None = 100):
        self.random_state, self.max_range = np.random.default_rng(seed), max_range or 100
        if path is not None:
            self.load(path)

    def load(self, path: str) -> None:
        self.random_state.bit_generator.state = np.load(path, allow_pickle=True).item()

    def save(self, path: str) -> None:
        with Path(path).open("wb") as file:
            np.save(file, self.random_state.bit_generator.state, allow_pickle=True)

    def predict(self, context, candidates: list):
        return self.random_state.integers(0, self.max_range, len(candidates)).astype("float64")


def create_model(kind, *args, **named):
    """The cost model of a name, "xgb", "random" or "none", or what is one already."""
    if kind is None or (not isinstance(kind, str) and hasattr(kind, "predict")):
        return kind
    if kind == "xgb":
        return XGBModel(*args, **named)
    if kind in ("random", "none"):
        return RandomModel(*args, **named) if kind == "random" else tune.RandomModel()
    if kind == "mlp":
        raise Unsupported('cost_model "mlp": there is no neural model\nhelp: use "xgb"')
    raise UserError(f"cost_model is {kind!r}, expected one of xgb, random, none, or a CostModel")


class FeatureExtractor:
    """The base class of feature extractors: extract_from(context, candidates) gives an array for each candidate."""

    def extract_from(self, context, candidates: list) -> list:
        """Features of candidates."""
        raise Unsupported(f"{type(self).__name__} has no method extract_from(context, candidates)")

    @staticmethod
    def create(kind: str = "per-store-feature", *args, **named):
        """The features of a name."""
        if kind != "per-store-feature":
            raise Unsupported(f'FeatureExtractor.create: there is no "{kind}"\nhelp: use "per-store-feature"')
        return PerStoreFeature(*args, **named)


class PerStoreFeature(FeatureExtractor):
    """tilewright's features of a program, as an array of one row for each candidate."""

    def __init__(
        self,
        buffers_per_store: int = 5,
        arith_intensity_curve_num_samples: int = 10,
        cache_line_bytes: int = 64,
        extract_workload: bool = False,
    ):
        require_default(
            "PerStoreFeature",
            buffers_per_store=(buffers_per_store, 5),
            arith_intensity_curve_num_samples=(arith_intensity_curve_num_samples, 10),
            cache_line_bytes=(cache_line_bytes, 64),
            extract_workload=(extract_workload, False),
        )

    def extract_from(self, context, candidates: list) -> list:
        target = context.target or "llvm"
        rows = [list(tune.program_features(each.sch.mod, target).values()) for each in candidates]
        return [runtime.tensor(np.array([row], "float64")) for row in rows]


class RandomFeatureExtractor(FeatureExtractor):
    """Random features.

    feature_size   numbers of a row
    max_block_num  rows at most
    """

    def __init__(self, *, feature_size: int = 30, max_block_num: int = 5, seed: int = 0):
        self.feature_size, self.max_block_num = feature_size, max_block_num
        self.random_state = np.random.default_rng(seed)

    def extract_from(self, context, candidates: list) -> list:
        rows = [int(self.random_state.integers(1, self.max_block_num + 1)) for _ in candidates]
        return [runtime.tensor(self.random_state.random((count, self.feature_size))) for count in rows]


def _native(candidate, context):
    """A MeasureCandidate as candidates of the search are."""
    if candidate.native is None:
        if context.mod is None:
            raise UserError("XGBModel: the context has no module")
        program = schedule.Schedule(context.mod)
        candidate.native = _core.candidate_of(program._core, candidate.sch.trace)
    return candidate.native


class XGBModel(CostModel):
    """tilewright's model of trees, one for each task; where XGBoost is not installed the analytic model.

    Raises Unsupported for other values of its options
    """

    def __init__(
        self,
        *,
        extractor="per-store-feature",
        config=None,
        num_warmup_samples: int = 100,
        early_stopping_rounds: int = 50,
        verbose_eval: int = 25,
        average_peak_n: int = 32,
        adaptive_training: bool = True,
        num_tuning_cores: int | None = None,
        tree_method: str | None = None,
    ):
        if not isinstance(extractor, str | PerStoreFeature):
            raise Unsupported(
                "XGBModel: features of your own cannot be given\n"
                "help: write a cost model, ms.cost_model.PyCostModel, which may compute any features of candidates"
            )
        require_default(
            "XGBModel",
            config=(config, None),
            num_warmup_samples=(num_warmup_samples, 100),
            early_stopping_rounds=(early_stopping_rounds, 50),
            verbose_eval=(verbose_eval, 25),
            average_peak_n=(average_peak_n, 32),
            adaptive_training=(adaptive_training, True),
            num_tuning_cores=(num_tuning_cores, None),
            tree_method=(tree_method, None),
        )
        self._models: dict = {}
        self._loaded: bytes | None = None

    def save(self, path: str) -> None:
        """Writes what it has learnt to a file."""
        given = [each for each in self._models.values() if isinstance(each, tune.BoostedModel)]
        if len(given) != 1:
            raise UserError(f"XGBModel.save: it has learnt for {len(given)} targets, expected one")
        Path(path).write_bytes(given[0].save())

    def load(self, path: str) -> None:
        """Begins from what a file has, for the first target that it is used for."""
        self._loaded = Path(path).read_bytes()

    def _model(self, context):
        target = str(context.target or "llvm")
        if target not in self._models:
            self._models[target] = tune.default_model(target)
            if self._loaded is not None and isinstance(self._models[target], tune.BoostedModel):
                self._models[target].load(self._loaded)
        return self._models[target]

    def predict(self, context, candidates: list):
        given = [_native(each, context) for each in candidates]
        return np.array(self._model(context).predict(given))

    def update(self, context, candidates: list, results: list) -> None:
        given = [_native(each, context) for each in candidates]
        self._model(context).update(given, [each.median for each in results])


MODELS = {
    "CostModel": CostModel,
    "PyCostModel": CostModel,
    "RandomModel": RandomModel,
    "XGBModel": XGBModel,
    "create": create_model,
}
FEATURES = {
    "FeatureExtractor": FeatureExtractor,
    "PyFeatureExtractor": FeatureExtractor,
    "PerStoreFeature": PerStoreFeature,
    "RandomFeatureExtractor": RandomFeatureExtractor,
}
