"""Graph operators of networks, pictures, boxes and quantization against numpy and torch."""

import numpy as np
import pytest
from op_testing import check_op, run_op

import tilewright
from tilewright import relax
from tilewright.script import parse

torch = pytest.importorskip("torch")
F = torch.nn.functional

RNG = np.random.default_rng(6)


def some(*shape):
    return RNG.standard_normal(shape, dtype="float32")


def t(x):
    return torch.from_numpy(np.ascontiguousarray(x))


X = some(2, 4, 7, 5)
WAVE, VOLUME = some(2, 4, 127), some(1, 4, 5, 7, 5)
CONV = [
    {},
    {"strides": 2, "padding": 1},
    {"dilation": 2, "padding": 2},
    {"groups": 2, "padding": 1},
]


def torch_conv(attrs):
    names = {"strides": "stride", "padding": "padding", "dilation": "dilation", "groups": "groups"}
    return {names[name]: value for name, value in attrs.items()}


@pytest.mark.parametrize("attrs", CONV, ids=str)
def test_convolutions(attrs):
    channels = 4 // attrs.get("groups", 1)
    for data, conv, name in [
        (WAVE, F.conv1d, "nn.conv1d"),
        (X, F.conv2d, "nn.conv2d"),
        (VOLUME, F.conv3d, "nn.conv3d"),
    ]:
        weight = some(6, channels, *[3] * (data.ndim - 2))
        wanted = conv(t(data), t(weight), **torch_conv(attrs)).numpy()
        check_op(name, [data, weight], attrs, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("attrs", [*CONV, {"strides": 2, "padding": 1, "output_padding": 1}], ids=str)
def test_transposed_convolutions(attrs):
    channels = 6 // attrs.get("groups", 1)
    more = {"output_padding": 1} if "output_padding" in attrs else {}
    plain = {key: value for key, value in attrs.items() if key != "output_padding"}
    for data, conv, name in [
        (WAVE, F.conv_transpose1d, "nn.conv1d_transpose"),
        (X, F.conv_transpose2d, "nn.conv2d_transpose"),
        (VOLUME, F.conv_transpose3d, "nn.conv3d_transpose"),
    ]:
        weight = some(4, channels, *[3] * (data.ndim - 2))
        wanted = conv(t(data), t(weight), **torch_conv(plain), **more).numpy()
        check_op(name, [data, weight], attrs, wanted, rtol=1e-4, atol=1e-4)


POOLS = [
    {"pool_size": 2},
    {"pool_size": 3, "strides": 2, "padding": 1},
    {"pool_size": 3, "strides": 2, "ceil_mode": True},
]


@pytest.mark.parametrize("attrs", POOLS, ids=str)
def test_pools(attrs):
    torch_attrs = {"stride": attrs.get("strides", 1), "padding": attrs.get("padding", 0)}
    torch_attrs["ceil_mode"] = attrs.get("ceil_mode", False)
    for data, dims in [(WAVE, 1), (X, 2), (VOLUME, 3)]:
        largest = getattr(F, f"max_pool{dims}d")(t(data), attrs["pool_size"], **torch_attrs).numpy()
        check_op(f"nn.max_pool{dims}d", [data], attrs, largest)
        mean = getattr(F, f"avg_pool{dims}d")(
            t(data), attrs["pool_size"], count_include_pad=False, **torch_attrs
        )
        options = {**attrs, "count_include_pad": False}
        check_op(f"nn.avg_pool{dims}d", [data], options, mean.numpy(), atol=1e-5)


@pytest.mark.parametrize("strides, padding", [(1, 1), (2, 1), (3, 2), (1, 3)])
def test_a_dilated_average_counts_the_places_inside_of_the_data(strides, padding):
    """Found by random graph 10211: the first place inside was taken for 0, also where the window steps over it."""
    padded = np.pad(WAVE, ((0, 0), (0, 0), (padding, padding)))
    inside = np.pad(np.ones_like(WAVE), ((0, 0), (0, 0), (padding, padding)))
    starts = np.arange(0, padded.shape[-1] - 4, strides)

    def summed(values):
        return sum(values[..., starts + place] for place in (0, 2, 4))

    wanted = summed(padded) / np.maximum(summed(inside), 1)
    attrs = {
        "pool_size": 3,
        "strides": strides,
        "padding": padding,
        "dilation": 2,
        "count_include_pad": False,
    }
    check_op("nn.avg_pool1d", [WAVE], attrs, wanted, atol=1e-5)


def test_averages_count_padding_by_default_but_in_pictures():
    """As apache-tvm 0.27: avg_pool1d and avg_pool3d count it, avg_pool2d does not."""
    for dims, data, counts in [(1, WAVE, True), (2, X, False), (3, VOLUME, True)]:
        pool = getattr(F, f"avg_pool{dims}d")
        wanted = pool(t(data), 3, 2, 1, count_include_pad=counts).numpy()
        check_op(
            f"nn.avg_pool{dims}d", [data], {"pool_size": 3, "strides": 2, "padding": 1}, wanted, atol=1e-5
        )


def test_a_grid_speaks_of_edges_by_default():
    """As apache-tvm 0.27 and torch: align_corners is false."""
    grid = RNG.uniform(-1, 1, (2, 2, 3, 11)).astype("float32")
    wanted = F.grid_sample(t(X), t(grid).permute(0, 2, 3, 1), align_corners=False).numpy()
    check_op("image.grid_sample", [X, grid], {}, wanted, rtol=1e-3, atol=1e-4)


def test_options_may_be_constants():
    """all_class_non_max_suppression(boxes, scores, R.const(7), R.const(0.3)) as programs of 2024 write it."""
    scores = RNG.uniform(0, 1, (1, 3, 127)).astype("float32")
    numbers = {"max_output_boxes_per_class": 7, "iou_threshold": 0.3, "score_threshold": 0.2}
    constants = {
        name: relax.const(value, "int64" if isinstance(value, int) else "float32")
        for name, value in numbers.items()
    }
    wanted = run_op("vision.all_class_non_max_suppression", CORNERS, scores, **numbers)
    found = run_op("vision.all_class_non_max_suppression", CORNERS, scores, **constants)
    written = parse(
        f"""
@R.function
def main(boxes: R.Tensor({CORNERS.shape}, "float32"), scores: R.Tensor({scores.shape}, "float32")):
    gv = R.vision.all_class_non_max_suppression(
        boxes, scores, R.const(7, "int64"), R.const(0.3, "float32"), R.const(0.2, "float32"), output_format="onnx"
    )
    return gv
"""
    )
    main = tilewright.VirtualMachine(tilewright.compile(tilewright.IRModule({"main": written})))["main"]
    for results in (found, [each.numpy() for each in main(CORNERS, scores)]):
        for mine, theirs in zip(results, wanted, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_adaptive_pools():
    for data, dims in [(WAVE, 1), (X, 2), (VOLUME, 3)]:
        wanted = getattr(F, f"adaptive_avg_pool{dims}d")(t(data), 3).numpy()
        check_op(f"nn.adaptive_avg_pool{dims}d", [data], {"output_size": [3]}, wanted, atol=1e-5)


GAMMA, BETA, MEAN, VAR = some(4), some(4), some(4), np.abs(some(4)) + 0.5


def test_norms():
    g, b = t(GAMMA), t(BETA)
    wanted = F.batch_norm(t(X), t(MEAN), t(VAR), g, b, eps=1e-3).numpy()
    check_op(
        "nn.batch_norm",
        [X, GAMMA, BETA, MEAN, VAR],
        {"axis": 1, "epsilon": 1e-3},
        [wanted, MEAN, VAR],
        atol=1e-5,
    )
    wanted = F.layer_norm(t(X), (7, 5), t(X[0, 0]), t(X[0, 1])).numpy()
    check_op("nn.layer_norm", [X, X[0, 0].copy(), X[0, 1].copy()], {"axes": [-2, -1]}, wanted, atol=1e-5)
    wanted = F.group_norm(t(X), 2, g, b).numpy()
    check_op(
        "nn.group_norm",
        [X, GAMMA, BETA],
        {"num_groups": 2, "channel_axis": 1, "axes": [2, 3]},
        wanted,
        atol=1e-5,
    )
    wanted = F.instance_norm(t(X), weight=g, bias=b).numpy()
    check_op("nn.instance_norm", [X, GAMMA, BETA], {"channel_axis": 1, "axes": [2, 3]}, wanted, atol=1e-5)
    wanted = F.rms_norm(t(X), (5,), t(X[0, 0, 0]), 1e-5).numpy()
    check_op("nn.rms_norm", [X, X[0, 0, 0].copy()], {"axes": [-1]}, wanted, atol=1e-5)


def test_batch_norm_in_training():
    mean, var = X.mean((0, 2, 3)), X.var((0, 2, 3))
    wanted = F.batch_norm(t(X), None, None, t(GAMMA), t(BETA), training=True).numpy()
    moved = [
        MEAN * np.float32(0.75) + mean * np.float32(0.25),
        VAR * np.float32(0.75) + var * np.float32(0.25),
    ]
    attrs = {"axis": 1, "momentum": 0.25, "training": True}
    check_op(
        "nn.batch_norm", [X, GAMMA, BETA, MEAN, VAR.astype("float32")], attrs, [wanted, *moved], atol=1e-4
    )


def test_softmax_and_dropout():
    check_op("nn.softmax", [X], {"axis": 1}, torch.softmax(t(X), 1).numpy())
    check_op("nn.log_softmax", [X], {}, torch.log_softmax(t(X), -1).numpy(), atol=1e-5)
    check_op("nn.dropout", [X], {"rate": 0.3}, [X, np.ones_like(X)])


def test_losses():
    scores, targets, weights = some(5, 7), RNG.integers(0, 7, 5), np.abs(some(7))
    targets[2] = -100
    for reduction in ["none", "sum", "mean"]:
        wanted = F.nll_loss(t(scores), t(targets), t(weights), reduction=reduction).numpy()
        check_op("nn.nll_loss", [scores, targets, weights], {"reduction": reduction}, wanted)
    image, labels = some(2, 3, 5, 7), RNG.integers(0, 3, (2, 5, 7))
    wanted = F.nll_loss(t(image), t(labels), ignore_index=1).numpy()
    check_op("nn.nll_loss", [image, labels], {"ignore_index": 1}, wanted)
    check_op("nn.nll_loss", [scores[0].copy(), np.array(3)], {}, -scores[0, 3])
    labels = some(5, 7)
    check_op(
        "nn.cross_entropy_with_logits",
        [scores, labels],
        {},
        -(scores * labels).sum() / np.float32(5),
        atol=1e-5,
    )


QUERY, KEY, VALUE = some(2, 5, 4, 7), some(2, 7, 4, 7), some(2, 7, 4, 3)


def heads_first(x):
    return t(x).permute(0, 2, 1, 3)


@pytest.mark.parametrize("mask", [None, "TopLeft", "BottomRight"])
def test_attention(mask):
    rows, columns = np.arange(5)[:, None], np.arange(7)
    visible = (
        np.ones((5, 7), "bool") if mask is None else columns <= rows + (2 if mask == "BottomRight" else 0)
    )
    args = [heads_first(x) for x in (QUERY, KEY, VALUE)]
    wanted = F.scaled_dot_product_attention(*args, attn_mask=t(visible)).permute(0, 2, 1, 3).numpy()
    check_op("nn.attention", [QUERY, KEY, VALUE], {"causal_mask": mask}, wanted, atol=1e-5)


def test_attention_with_bias_scale_window_and_shared_heads():
    bias = some(2, 1, 5, 7)
    args = [heads_first(x) for x in (QUERY, KEY, VALUE)]
    wanted = F.scaled_dot_product_attention(*args, attn_mask=t(bias), scale=0.25).permute(0, 2, 1, 3).numpy()
    check_op("nn.attention", [QUERY, KEY, VALUE, bias], {"scale": 0.25}, wanted, atol=1e-5)
    distance = np.arange(5)[:, None] - np.arange(7)
    near = (distance >= 0) & (distance < 2)
    wanted = F.scaled_dot_product_attention(*args, attn_mask=t(near)).permute(0, 2, 1, 3).numpy()
    check_op(
        "nn.attention", [QUERY, KEY, VALUE], {"causal_mask": "TopLeft", "window_size": 2}, wanted, atol=1e-5
    )
    shared = [args[0], args[1][:, :2], args[2][:, :2]]
    wanted = F.scaled_dot_product_attention(*shared, enable_gqa=True).permute(0, 2, 1, 3).numpy()
    check_op("nn.attention", [QUERY, KEY[:, :, :2].copy(), VALUE[:, :, :2].copy()], {}, wanted, atol=1e-5)


def test_padding_and_shuffling():
    width = [0, 0, 0, 0, 2, 1, 1, 3]
    pairs = [(width[2 * n], width[2 * n + 1]) for n in range(4)]
    for mode, numpy_mode in [
        ("constant", "constant"),
        ("reflect", "reflect"),
        ("replicate", "edge"),
        ("circular", "wrap"),
    ]:
        check_op("nn.pad", [X], {"pad_width": width, "pad_mode": mode}, np.pad(X, pairs, numpy_mode))
    check_op("nn.pixel_shuffle", [X], {"upscale_factor": 2}, F.pixel_shuffle(t(X), 2).numpy())


SIZES = [(3, 11), (14, 10), (5, 7)]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_resize_as_torch(size):
    for method, torch_method in [("linear", "bilinear"), ("cubic", "bicubic")]:
        for mode, align in [("half_pixel", False), ("align_corners", True)]:
            wanted = F.interpolate(t(X), size, mode=torch_method, align_corners=align).numpy()
            attrs = {"method": method, "coordinate_transformation_mode": mode}
            check_op("image.resize2d", [X, size], attrs, wanted, rtol=1e-4, atol=1e-4)
    wanted = F.interpolate(t(X), size, mode="nearest").numpy()
    attrs = {
        "method": "nearest_neighbor",
        "coordinate_transformation_mode": "asymmetric",
        "rounding_method": "floor",
    }
    check_op("image.resize2d", [X, size], attrs, wanted)
    nhwc = np.ascontiguousarray(X.transpose(0, 2, 3, 1))
    check_op("image.resize2d", [nhwc, size], {**attrs, "layout": "NHWC"}, wanted.transpose(0, 2, 3, 1))


MODES = ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric"]


@pytest.mark.parametrize("mode", MODES)
def test_resize_as_onnx(mode):
    onnx = pytest.importorskip("onnx")
    evaluator = pytest.importorskip("onnx.reference").ReferenceEvaluator
    for method, name in [("nearest_neighbor", "nearest"), ("linear", "linear"), ("cubic", "cubic")]:
        modes = {"mode": name, "coordinate_transformation_mode": mode, "nearest_mode": "round_prefer_floor"}
        node = onnx.helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], **modes)
        for size in [(3, 11), (14, 10)]:
            (wanted,) = evaluator(node).run(None, {"x": X[:1, :1], "sizes": np.array([1, 1, *size])})
            attrs = {"method": method, "coordinate_transformation_mode": mode}
            attrs["rounding_method"] = "round_prefer_floor"
            check_op(
                "image.resize2d",
                [X[:1, :1].copy(), size],
                attrs,
                wanted.astype("float32"),
                rtol=1e-3,
                atol=1e-4,
            )


@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample(method, padding):
    grid = RNG.uniform(-1.7, 1.7, (2, 2, 3, 11)).astype("float32")
    for align in [True, False]:
        wanted = F.grid_sample(t(X), t(grid).permute(0, 2, 3, 1), method, padding, align).numpy()
        attrs = {"method": method, "padding_mode": padding, "align_corners": align}
        check_op("image.grid_sample", [X, grid], attrs, wanted, rtol=1e-3, atol=1e-4)


def test_affine_grid():
    theta = some(2, 2, 3)
    wanted = F.affine_grid(t(theta), [2, 1, 5, 7], align_corners=True).permute(0, 3, 1, 2).numpy()
    check_op("image.affine_grid", [theta, (5, 7)], {}, wanted, atol=1e-5)
    wanted = F.affine_grid(t(theta), [2, 1, 5, 7], align_corners=False).permute(0, 3, 1, 2).numpy()
    check_op("image.affine_grid", [theta, (5, 7)], {"align_corners": False}, wanted, atol=1e-5)


@pytest.mark.parametrize("is_aligned", [True, False])
def test_affine_grid_of_a_volume(is_aligned):
    theta = some(2, 3, 4)
    wanted = F.affine_grid(t(theta), [2, 1, 3, 5, 7], align_corners=is_aligned).permute(0, 4, 1, 2, 3).numpy()
    check_op("image.affine_grid", [theta, (3, 5, 7)], {"align_corners": is_aligned}, wanted, atol=1e-5)


def test_quantization():
    scale, zero = np.abs(some(4)) / 50 + np.float32(0.01), np.array([0, 3, -5, 7], "int8")
    shape = (1, 4, 1, 1)
    wanted = np.clip(np.round(X / scale.reshape(shape)) + zero.reshape(shape), -128, 127).astype("int8")
    check_op("quantize", [X, scale, zero], {"axis": 1}, wanted)
    real = (wanted.astype("float32") - zero.reshape(shape)) * scale.reshape(shape)
    check_op("dequantize", [wanted, scale, zero], {"axis": 1}, real)
    one, middle = np.array(0.1, "float32"), np.array(128, "uint8")
    wanted = np.clip(np.round(X / one) + 128, 0, 255).astype("uint8")
    check_op("quantize", [X, one, middle], {"out_dtype": "uint8"}, wanted)


@pytest.mark.parametrize("block", [2, 3, 7])
def test_quantization_in_blocks(block):
    """Also where the last block is shorter."""
    count = -(-X.shape[2] // block)
    shape = (*X.shape[:2], count, X.shape[3])
    scale = np.abs(some(*shape)) / 50 + np.float32(0.01)
    zero = np.arange(np.prod(shape)).reshape(shape).astype("int8") % np.int8(5)
    wide, moved = (np.repeat(each, block, axis=2)[:, :, : X.shape[2]] for each in (scale, zero))
    wanted = np.clip(np.round(X / wide) + moved, -128, 127).astype("int8")
    check_op("quantize", [X, scale, zero], {"axis": 2, "block_size": block}, wanted)
    real = (wanted.astype("float32") - moved) * wide
    check_op("dequantize", [wanted, scale, zero], {"axis": -2, "block_size": block}, real)


def greedy(boxes, scores, most, overlap, least):
    """The straightforward suppression, for one class."""

    def both(a, b):
        low, high = np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])
        shared = np.prod(np.maximum(high - low, 0))
        return shared / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - shared)

    kept = []
    for n in np.argsort(-scores, kind="stable"):
        if scores[n] > least and len(kept) < most and all(both(boxes[k], boxes[n]) <= overlap for k in kept):
            kept.append(int(n))
    return kept


CORNERS = np.sort(RNG.uniform(0, 1, (1, 127, 2, 2)), 2).reshape(1, 127, 4).astype("float32")


def test_suppression_of_all_classes():
    scores = RNG.uniform(0, 1, (1, 3, 127)).astype("float32")
    attrs = {"max_output_boxes_per_class": 7, "iou_threshold": 0.3, "score_threshold": 0.2}
    chosen, count = run_op("vision.all_class_non_max_suppression", CORNERS, scores, **attrs)
    wanted = [[0, c, n] for c in range(3) for n in greedy(CORNERS[0], scores[0, c], 7, 0.3, 0.2)]
    assert count[0] == len(wanted)
    np.testing.assert_array_equal(chosen[: len(wanted)], wanted)


def test_suppression():
    scores = RNG.uniform(0, 1, 127).astype("float32")
    rows = np.concatenate([np.zeros((127, 1), "float32"), scores[:, None], CORNERS[0]], 1)[None]
    valid, first, places = run_op("vision.get_valid_counts", rows, score_threshold=0.25)
    above = np.flatnonzero(scores > 0.25)
    assert valid[0] == len(above)
    np.testing.assert_array_equal(first[0, : len(above)], rows[0, above])
    assert (first[0, len(above) :] == -1).all()
    np.testing.assert_array_equal(places[0, : len(above)], above)
    wanted = greedy(CORNERS[0], scores, 5, 0.3, 0.25)
    attrs = {"max_output_size": 5, "iou_threshold": 0.3}
    found, count = run_op("vision.non_max_suppression", first, valid, places, **attrs)
    assert count[0, 0] == len(wanted)
    np.testing.assert_array_equal(found[0, : len(wanted)], wanted)
    attrs.update(return_indices=False, invalid_to_bottom=True)
    found = run_op("vision.non_max_suppression", first, valid, places, **attrs)
    np.testing.assert_array_equal(found[0, : len(wanted)], rows[0, wanted])


def overlap(a, b):
    shared = np.prod(np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0))
    return shared / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - shared)


@pytest.mark.parametrize("force", [True, False])
def test_suppression_that_lessens_scores(force):
    """Soft-NMS: the best box is taken, those that it overlaps become worse, and so on."""
    sigma, most_overlap, least = 0.3, 0.6, 0.2
    classes, scores = RNG.integers(0, 3, 127), RNG.uniform(0, 1, 127).astype("float32")
    rows = np.concatenate([classes[:, None], scores[:, None], CORNERS[0]], 1).astype("float32")
    left, kept = {n: scores[n].astype("float64") for n in range(100)}, []
    while left and max(left.values()) > least and len(kept) < 20:
        best = max(left, key=left.get)
        kept.append((best, left.pop(best)))
        for n in list(left):
            shared = overlap(CORNERS[0, best], CORNERS[0, n]) if force or classes[best] == classes[n] else 0
            left[n] *= np.exp(-(shared**2) / (2 * sigma))
            if shared > most_overlap:
                del left[n]
    wanted = np.full((1, 127, 6), -1, "float32")
    for n, (row, score) in enumerate(kept):
        wanted[0, n] = [classes[row], score, *CORNERS[0, row]]
    attrs = {
        "soft_nms_sigma": sigma,
        "score_threshold": least,
        "iou_threshold": most_overlap,
        "force_suppress": force,
    }
    args = rows[None], np.array([100], "int32"), np.arange(127, dtype="int32")[None] + 1000
    found, chosen, count = run_op("vision.non_max_suppression", *args, max_output_size=20, **attrs)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    assert (count[0, 0], list(chosen[0, : len(kept)])) == (len(kept), [row + 1000 for row, _ in kept])
    found = run_op("vision.non_max_suppression", *args, max_output_size=20, return_indices=False, **attrs)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


def test_inspection():
    assert run_op("inspect.tensor_ndim", X) == 4
    assert run_op("inspect.tensor_shape_i", X, 2) == 7
    assert run_op("inspect.tensor_stride_i", X, 1) == 35
    assert run_op("inspect.tensor_byte_offset", X) == 0
    assert run_op("inspect.tensor_elem_offset", X) == 0
    assert run_op("inspect.tensor_dtype_code", X) == 2
    assert run_op("inspect.tensor_dtype_bits", X) == 32
    assert run_op("inspect.tensor_dtype_lanes", X) == 1


@pytest.mark.parametrize("name", ["allreduce", "allgather", "broadcast_from_worker0", "scatter_from_worker0"])
def test_one_worker_has_what_all_have(name):
    attrs = {"num_workers": 1} if name in ("allgather", "scatter_from_worker0") else {}
    check_op(f"ccl.{name}", [X], attrs, X)
