"""Makers of layers with several inputs: recurrent ones, attention with caches, regions and samples of pictures, sets."""

import numpy as np

from .makers import maker
from .model import Model, integers, positive


def weights(m: Model, name: str, *shape: int) -> None:
    rng = np.random.default_rng([m.seed, len(m.constants)])
    m.constants[name] = (rng.standard_normal(shape) / 2).astype("float32")


# ---- recurrent


@maker
def recurrent(m: Model, pick):
    op, gates = pick.choice([("RNN", 1), ("GRU", 3), ("LSTM", 4)])
    direction = pick.choice(["forward", "reverse", "bidirectional"])
    directions, hidden = 2 if direction == "bidirectional" else 1, pick.randrange(1, 6)
    m.fixed["i"] = pick.randrange(1, 6)
    m.closed.add(("x", 2))
    m.input("x", "t", "b", "i")
    weights(m, "w", directions, gates * hidden, m.fixed["i"])
    weights(m, "r", directions, gates * hidden, hidden)
    weights(m, "z", directions, 2 * gates * hidden)
    names = "x w r z"
    if pick.random() < 0.4:
        m.input(
            "l", "b", data=lambda rng, shape, sizes: rng.integers(1, sizes["t"] + 1, shape).astype("int32")
        )
        names += " l"
    m.node(op, names, "y h", hidden_size=hidden, direction=direction)
    m.outputs = ["y", "h"]


# ---- attention of com.microsoft


def some_keys(rng, shape, sizes):
    """Of a row without keys all scores are about -10000, and differ by what a float32 holds of that."""
    mask = rng.integers(0, 2, shape).astype("int32")
    mask[..., :1] = 1
    return mask


@maker
def multi_head(m: Model, pick):
    m.fixed |= {"d": 8, "e": 12}
    m.closed |= {("q", 2), ("k", 2), ("v", 2)}
    m.input("q", "b", "s", "d", data=positive)
    m.input("k", "b", "t", "d", data=positive)
    m.input("v", "b", "t", "e", data=positive)
    mask = added = "-"
    if pick.random() < 0.4:
        mask = "m"
        m.input("m", "b", "t", data=some_keys)
    if pick.random() < 0.4:
        added = "a"
        m.input("a", pick.choice(["b", 1]), pick.choice([2, 1]), "s", "t")
        m.closed.add(("a", 1))
    m.node("MultiHeadAttention", f"q k v - {mask} {added}", domain="com.microsoft", num_heads=2)


@maker
def group_query(m: Model, pick):
    """One token after a cache: onnxruntime takes more of a batch only without one."""
    m.fixed |= {"s": 1}
    m.closed |= {("q", 2), ("k", 2), ("v", 2), ("p", 1), ("p", 3), ("c", 1), ("c", 3)}
    m.input("q", "b", "s", 32, data=positive)
    m.input("k", "b", "s", 16, data=positive)
    m.input("v", "b", "s", 16, data=positive)
    m.input("p", "b", 2, "t", 8, data=positive)
    m.input("c", "b", 2, "t", 8, data=positive)
    m.input("l", "b", data=lambda rng, shape, sizes: np.full(shape, sizes["t"], "int32"))
    m.input("n", data=lambda rng, shape, sizes: np.full(shape, sizes["t"] + 1, "int32"))
    attrs = pick.choice([{}, {"softcap": 0.7}, {"local_window_size": 2}, {"smooth_softmax": 1}])
    m.node(
        "GroupQueryAttention",
        "q k v p c l n",
        "y u w",
        domain="com.microsoft",
        num_heads=4,
        kv_num_heads=2,
        **attrs,
    )
    m.outputs = ["y", "u", "w"]


# ---- pictures


@maker
def grid_sample(m: Model, pick):
    m.opset = 20
    m.closed.add(("g", 3))
    m.input("x", "b", "c", "h", "w")
    m.input("g", "b", "p", "q", 2)
    m.tolerance = 1e-3
    m.node(
        "GridSample",
        "x g",
        mode=pick.choice(["linear", "nearest", "cubic"]),
        padding_mode=pick.choice(["zeros", "border", "reflection"]),
        align_corners=pick.randrange(2),
    )


def boxes(rng, shape, sizes):
    """Corners x1, y1, x2, y2, the second behind the first."""
    corners = rng.uniform(0, 5, (*shape[:-1], 2, 2)).astype("float32")
    return (
        np.sort(corners, axis=-2).reshape(shape)
        if shape[-1] == 4
        else rng.uniform(0, 5, shape).astype("float32")
    )


@maker
def roi_align(m: Model, pick):
    m.opset = 16
    m.closed.add(("r", 1))
    m.input("x", "b", "c", "h", "w")
    m.input("r", "n", 4, data=boxes)
    m.input("i", "n", data=lambda rng, shape, sizes: rng.integers(0, sizes["b"], shape))
    m.tolerance = 1e-3
    m.node(
        "RoiAlign",
        "x r i",
        mode=pick.choice(["avg", "max"]),
        output_height=pick.randrange(1, 4),
        output_width=pick.randrange(1, 4),
        sampling_ratio=pick.randrange(3),
    )


@maker
def select_boxes(m: Model, pick):
    m.closed.add(("x", 2))
    m.input("x", "b", "n", 4, data=boxes)
    m.input("s", "b", "c", "n")
    m.constant("k", [pick.randrange(1, 4)])
    m.constant("t", [pick.choice([0.3, 0.5, 1.0])], "float32")
    m.constant("u", [0.1], "float32")
    m.node("NonMaxSuppression", "x s k t u", center_point_box=0)


@maker
def resize(m: Model, pick):
    m.opset = 19
    m.input("x", "b", "c", "h", "w")
    m.constant("s", [1, 1, pick.choice([2, 3]), pick.choice([2, 0.5, 1])], "float32")
    m.least |= {"h": 2, "w": 2}
    mode = pick.choice(["linear", "nearest"])
    m.node(
        "Resize", "x - s", mode=mode, coordinate_transformation_mode=pick.choice(["half_pixel", "asymmetric"])
    )


@maker
def global_pool(m: Model, pick):
    m.input("x", "b", "c", *pick.choice([["h"], ["h", "w"]]))
    m.node(pick.choice(["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"]), "x")


# ---- sets and signals


@maker
def compress(m: Model, pick):
    shape = ["a", "b", "c"][: pick.randrange(1, 4)]
    axis = pick.randrange(len(shape))
    m.input("x", *shape)
    m.input("z", shape[axis], data=integers(0, 2, "bool"))
    m.node("Compress", "x z", axis=axis)


@maker
def non_zero(m: Model, pick):
    m.input("x", *["a", "b", "c"][: pick.randrange(1, 4)], data=integers(-1, 2))
    m.node("NonZero", "x")


@maker
def unique(m: Model, pick):
    m.input("x", "a", "b", data=integers(0, 3))
    attrs = {"axis": pick.randrange(2)} if pick.random() < 0.5 else {}
    m.node("Unique", "x", "y i j k", sorted=1, **attrs)
    m.outputs = ["y", "i", "j", "k"]


@maker
def short_time_transform(m: Model, pick):
    length = pick.choice([4, 8])
    m.least["n"] = length
    m.closed.add(("x", 2))
    m.input("x", "b", "n", 1, data=positive)
    m.constant("s", pick.choice([1, 3]))
    m.constants["w"] = np.hanning(length).astype("float32")
    m.node("STFT", "x s w", onesided=pick.randrange(2))
    m.tolerance = 1e-3


@maker
def normalize(m: Model, pick):
    m.input("x", "a", "b", data=positive)
    m.node("LpNormalization", "x", axis=pick.randrange(2), p=pick.choice([1, 2]))
