"""Attention of opsets 23 to 25: layouts, shared heads, masks, caches, scores; open extents."""

import numpy as np
import pytest
from onnx import helper, numpy_helper
from onnx_peer import by_reference, by_us, check, feeds, kinds_of, model_of, refusal

import tilewright


def rand(*shape, dtype="float32", seed=0):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype(dtype)


def heads(batch=2, query=6, shared=3, queries=5, keys=7, size=8, value_size=9, dtype="float32"):
    """Q, K, V with heads first."""
    return [
        rand(batch, query, queries, size, dtype=dtype),
        rand(batch, shared, keys, size, dtype=dtype, seed=1),
        rand(batch, shared, keys, value_size, dtype=dtype, seed=2),
    ]


def run(inputs, **attrs):
    return check("Attention", inputs, by_reference, opset=attrs.pop("opset", 25), **attrs)


@pytest.mark.parametrize("queries", [1, 5, 33])
@pytest.mark.parametrize("shared", [1, 3, 6])
def test_heads_are_shared(queries, shared):
    run(heads(shared=shared, queries=queries))


@pytest.mark.parametrize(
    "attrs", [{"scale": 0.3}, {"scale": 0.0}, {"softcap": 0.7}, {"is_causal": 1}, {"softmax_precision": 11}]
)
def test_attributes(attrs):
    run(heads(), **attrs)
    run(heads(dtype="float16"), rtol=2e-2, atol=2e-3, **attrs)


def packed(array):
    return np.ascontiguousarray(array.transpose(0, 2, 1, 3)).reshape(array.shape[0], array.shape[2], -1)


def test_packed_heads():
    inputs = [packed(each) for each in heads()]
    run(inputs, q_num_heads=6, kv_num_heads=3)
    run(inputs, q_num_heads=6, kv_num_heads=3, is_causal=1, softcap=0.5)
    past = [rand(2, 3, 4, 8), rand(2, 3, 4, 9)]
    run([*inputs, None, *past], outputs=3, q_num_heads=6, kv_num_heads=3, is_causal=1)


MASKS = [(7,), (5, 7), (6, 5, 7), (2, 1, 5, 7), (2, 1, 1, 7), (5, 4)]


def with_whole_mask(model, arrays):
    """onnx's reference counts the rows of the mask as queries: the same mask with all rows."""
    mask = arrays["x3"]
    if mask.shape[-1] == 7:
        mask = np.broadcast_to(mask, np.broadcast_shapes(mask.shape, (5, 7)))
    return by_reference(model, arrays | {"x3": np.ascontiguousarray(mask)})


@pytest.mark.parametrize("shape", MASKS)
@pytest.mark.parametrize("causal", [0, 1])
def test_masks(shape, causal):
    masks = [rand(*shape), rand(*shape) > 0, rand(*shape)]
    masks[2][..., 2] = -np.inf
    for mask in masks:
        check("Attention", [*heads(), mask], with_whole_mask, opset=25, is_causal=causal)


def test_rows_without_keys_are_zero():
    mask = np.ones((5, 7), bool)
    mask[3] = False
    (found,) = run([*heads(), mask])
    assert (found[:, :, 3] == 0).all()


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_scores(mode):
    past = [rand(2, 3, 4, 8), rand(2, 3, 4, 9)]
    run(
        [*heads(), rand(5, 11), *past],
        outputs=["y0", "", "", "y3"],
        is_causal=1,
        softcap=2.0 if mode > 0 else 0.0,  # the reference caps products, which the text does not
        qk_matmul_output_mode=mode,
    )


def test_windows():
    for left, right in [(2, -1), (-1, 1), (1, 2), (0, 0)]:
        run(heads(), left_window_size=left, right_window_size=right)
        run(heads(), left_window_size=left, right_window_size=right, is_causal=1)


def test_end_of_a_cache():
    lengths = np.array([4, 7])
    for causal in (0, 1):
        run([*heads(queries=3), None, None, None, lengths], is_causal=causal)
        run([*heads(queries=3), rand(3, 7), None, None, lengths], is_causal=causal, left_window_size=2)


def test_open_extents():
    """One model for any batch, number of queries and length of the cache, 0 too."""
    shapes = {
        0: ["b", 6, "s", 8],
        1: ["b", 3, "s", 8],
        2: ["b", 3, "s", 9],
        4: ["b", 3, "p", 8],
        5: ["b", 3, "p", 9],
    }

    def inputs(b, s, p):
        return [
            *heads(batch=b, queries=s, keys=s),
            None,
            rand(b, 3, p, 8),
            rand(b, 3, p, 9),
        ]

    model = model_of("Attention", inputs(1, 1, 1), outputs=3, opset=24, shapes=shapes, is_causal=1)
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    for extents in [(1, 1, 6), (2, 5, 0), (1, 3, 17), (3, 1, 0)]:
        arrays = [each for each in inputs(*extents) if each is not None]
        found = main(*map(tilewright.tensor, arrays))
        expected = by_reference(model, dict(zip(["x0", "x1", "x2", "x4", "x5"], arrays, strict=True)))
        for got, right in zip(found, expected, strict=True):
            np.testing.assert_allclose(got.numpy(), right, rtol=1e-4, atol=1e-5)


def test_no_keys_give_zero():
    inputs = [rand(2, 3, 5, 8), rand(2, 3, 0, 8), rand(2, 3, 0, 9)]
    model = model_of("Attention", inputs, opset=24, shapes={1: [2, 3, "t", 8], 2: [2, 3, "t", 9]})
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    assert (main(*map(tilewright.tensor, inputs)).numpy() == np.zeros((2, 3, 5, 9))).all()


def test_refusals():
    q, k, v = heads()
    past = rand(2, 3, 4, 8)
    node = 'Attention node that makes "y0": '
    for inputs, text in [
        ([q, k, v, None, past], "past_key and past_value are not given together"),
        (
            [q, k, v, None, past, rand(2, 3, 4, 9), np.array([1, 2])],
            "nonpad_kv_seqlen is given beside past_key",
        ),
        (
            [q, rand(2, 4, 7, 8), rand(2, 4, 7, 9)],
            "query has 6 heads, which do not divide among the 4 of key",
        ),
        ([q, k, v, np.array(0.0, "float32")], "attn_mask has 0 dimensions, expected 1 to 4"),
        ([q, k, v, rand(5, 8)], "attn_mask is [5, 8], with more keys than 7"),
        ([rand(2, 6), k, v], "Q has 2 dimensions, expected 4"),
    ]:
        assert node + text in refusal("Attention", inputs, opset=24)
    open_heads = {0: [2, "h", 5, 8], 1: [2, "g", 7, 8]}
    assert (
        "query has [h] heads, key [g]: different numbers that are known only at run time\n"
        "help: give the inputs of the model numbers of heads"
    ) in refusal("Attention", [q, k, v], opset=24, shapes=open_heads)
    open_size = {0: [2, 6, 5, "d"], 1: [2, 3, 7, "d"]}
    assert (
        "the head size is known only at run time, and no scale is given\n"
        'help: give the node the attribute "scale"'
    ) in refusal("Attention", [q, k, v], opset=24, shapes=open_size)
    assert "the number of heads of Q is 0, expected at least 1" in refusal(
        "Attention", [packed(each) for each in heads()], opset=24
    )
    assert "Q is [2, 5, 48], whose last dimension is not divided by 5 heads" in refusal(
        "Attention", [packed(each) for each in heads()], opset=24, q_num_heads=5, kv_num_heads=3
    )


def test_dtypes_of_outputs():
    """Keys and values of a cache keep their dtype."""
    inputs = heads(queries=7, dtype="float16")
    names = ["y0", "y1", "y2"]
    kinds = kinds_of(names, ["float16"] * 3)
    past = [rand(2, 3, 4, 8, dtype="float16"), rand(2, 3, 4, 9, dtype="float16")]
    run([*inputs, None, *past], outputs=names, kinds=kinds, rtol=2e-2, atol=2e-3)


def test_flex_attention():
    """As Attention, whose masks are graphs."""
    q, k, v = heads()
    for attrs in ({}, {"scale": 0.3}, {"softmax_precision": 11}):
        expected = run([q, k, v], **attrs)[0]
        model = model_of("FlexAttention", [q, k, v], domain="ai.onnx.preview", **attrs)
        found = by_us(model, feeds([q, k, v], ()))[0]
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def changed(nodes, names=("s", "r"), constants=()):
    """A subgraph that makes the value names[1] of names[0]."""
    value = helper.make_tensor_value_info
    return helper.make_graph(
        nodes,
        "change",
        [value(names[0], 1, None)],
        [value(names[1], 1, None)],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants],
    )


def flex(inputs, **attrs):
    return check("FlexAttention", inputs, peer=by_reference, domain="ai.onnx.preview", **attrs)


def test_scores_and_weights_of_subgraphs():
    """A soft cap, a mask by positions, and half of each weight; with shared heads, too."""
    node = helper.make_node
    cap = changed(
        [node("Tanh", ["s"], ["t"]), node("Mul", ["t", "two"], ["r"])], constants=[("two", np.float32(2))]
    )
    causal = changed(
        [node("Where", ["hidden", "low", "s"], ["r"])],
        constants=[
            ("hidden", np.triu(np.ones((5, 7), bool), 1)),
            ("low", np.float32(-np.inf)),
        ],
    )
    half = changed([node("Mul", ["s", "half"], ["r"])], constants=[("half", np.float32(0.5))])
    q, k, v = rand(2, 4, 5, 8), rand(2, 4, 7, 8), rand(2, 4, 7, 9)
    flex([q, k, v], score_mod=cap)
    flex([q, k, v], score_mod=causal)
    flex([q, k, v], prob_mod=half)
    flex([q, k, v], score_mod=cap, prob_mod=half, scale=0.3)
    flex([q, k[:, :2], v[:, :2]], score_mod=causal, prob_mod=half)


def test_subgraphs_with_open_extents():
    cap = changed([helper.make_node("Tanh", ["s"], ["r"])])
    q, k, v = rand(2, 4, 5, 8), rand(2, 4, 7, 8), rand(2, 4, 7, 9)
    shapes = {0: ["b", 4, "s", 8], 1: ["b", 4, "t", 8], 2: ["b", 4, "t", 9]}
    flex([q, k, v], shapes=shapes, score_mod=cap)


def test_subgraphs_of_half_precision():
    """They get float32, the precision of the softmax."""
    inputs = [rand(2, 4, *shape, dtype="float16") for shape in ((5, 8), (7, 8), (7, 9))]
    half = changed([helper.make_node("Mul", ["s", "half"], ["r"])], constants=[("half", np.float32(0.5))])
    flex(
        inputs, prob_mod=half, kinds=kinds_of(["y0"], ["float16"]), rtol=2e-2, atol=2e-3, softmax_precision=1
    )


def test_refuses_other_subgraphs():
    q, k, v = heads()
    node, attrs = helper.make_node, {"domain": "ai.onnx.preview"}
    two = changed([node("Identity", ["s"], ["r"])])
    two.input.append(helper.make_tensor_value_info("more", 1, None))
    text = refusal("FlexAttention", [q, k, v], score_mod=two, **attrs)
    assert "score_mod has 2 inputs and 1 output, expected one of each" in text
    whole = changed([node("Cast", ["s"], ["r"], to=7)])
    text = refusal("FlexAttention", [q, k, v], prob_mod=whole, **attrs)
    assert "prob_mod returns int64, expected float32" in text
    rows = changed([node("ReduceSum", ["s", "last"], ["r"])], constants=[("last", np.array([-1]))])
    text = refusal("FlexAttention", [q, k, v], score_mod=rows, **attrs)
    assert "score_mod returns [2, 6, 5, 1], expected the shape of its input, [2, 6, 5, 7]" in text
