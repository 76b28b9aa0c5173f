"""ms.cost_model.XGBModel and ms.feature_extractor."""

from tilewright import tune
from tilewright.errors import Unsupported

from .search import CostModel, RandomModel, create_model
from .spaces import require_default


class FeatureExtractor:
    """The base class of feature extractors; those of the search are computed in C++, so that one of your own is refused."""

    def __init__(self, *args, **named):
        raise Unsupported(
            f"{type(self).__name__}: features of your own cannot be given\n"
            "help: write a cost model, ms.cost_model.PyCostModel, which may compute any features of candidates"
        )

    @staticmethod
    def create(kind: str = "per-store-feature"):
        """The features of a name."""
        if kind != "per-store-feature":
            raise Unsupported(f'FeatureExtractor.create: there is no "{kind}"\nhelp: use "per-store-feature"')
        return kind


def XGBModel(
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
    """tilewright's model of trees, where there is one; random scores before it has learnt.

    Raises Unsupported for other values of its options
    """
    require_default(
        "XGBModel",
        extractor=(extractor, "per-store-feature"),
        config=(config, None),
        num_warmup_samples=(num_warmup_samples, 100),
        early_stopping_rounds=(early_stopping_rounds, 50),
        verbose_eval=(verbose_eval, 25),
        average_peak_n=(average_peak_n, 32),
        adaptive_training=(adaptive_training, True),
        num_tuning_cores=(num_tuning_cores, None),
        tree_method=(tree_method, None),
    )
    make = getattr(tune, "XGBModel", None)
    return make() if make else None


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
    "PerStoreFeature": type("PerStoreFeature", (FeatureExtractor,), {}),
    "RandomFeatureExtractor": type("RandomFeatureExtractor", (FeatureExtractor,), {}),
}
