"""Graph operators on symbolic shapes give what they give on the numbers that the symbols take."""

import numpy as np
import pytest
from op_testing import build, check_op, run_op

import tilewright
from tilewright.errors import UserError
from tilewright.script import parse

RNG = np.random.default_rng(8)


def some(*shape):
    return RNG.standard_normal(shape, dtype="float32")


X, ROW, CUBE, IMAGE = some(5, 7), some(7), some(3, 5, 7), some(2, 4, 5, 7)
AT = RNG.integers(0, 5, (5, 7))
GAIN = some(4)

CASES = [
    ("add", [X, ROW], {}),
    ("log_add_exp", [CUBE, ROW], {}),
    ("where", [X > 0, X, ROW], {}),
    ("nn.selu", [X], {}),
    ("mean", [CUBE], {"axis": [1]}),
    ("variance", [CUBE], {"axis": [-1], "keepdims": True}),
    ("argmax", [X], {"axis": 0}),
    ("cumsum", [X], {}),
    ("cumprod", [X], {"axis": 1}),
    ("median", [X], {"axis": [0]}),
    ("sort", [X], {"axis": 0}),
    ("argsort", [X], {}),
    ("topk", [X], {"k": 3}),
    ("unique", [AT], {"return_counts": True}),
    ("nonzero", [AT], {}),
    ("bucketize", [X, np.sort(ROW)], {}),
    ("searchsorted", [np.sort(X), X], {}),
    ("layout_transform", [X], {"index_map": lambda i, j: (j // 4, i, j % 4)}),
    ("nn.batch_flatten", [CUBE], {}),
    ("gather_elements", [X, AT], {"axis": 0}),
    ("gather_nd", [CUBE, np.array([[0, 1], [2, 4]])], {}),
    ("index_tensor", [X, [AT[0]]], {}),
    ("one_hot", [AT, 1.0, 0.0], {"depth": 5}),
    ("scatter_elements", [X, AT, X], {"axis": 0, "reduction": "add"}),
    ("index_put", [X, [AT[0]], ROW], {"accumulate": True}),
    ("take", [X, AT[0]], {"axis": 1}),
    ("strided_slice", [X, [0, 1], [1, 0], [5, 7], [2, 3]], {}),
    ("reshape", [X, (-1,)], {}),
    ("flatten", [CUBE], {}),
    ("permute_dims", [CUBE], {"axes": [1, 2, 0]}),
    ("stack", [[X, X]], {"axis": 2}),
    ("concat", [[X, X]], {"axis": 1}),
    ("meshgrid", [[ROW, X[:, 0].copy()]], {}),
    ("repeat", [X], {"repeats": 2}),
    ("tile", [X], {"repeats": [2, 1]}),
    ("flip", [X], {"axis": 0}),
    ("collapse_sum_like", [CUBE, ROW], {}),
    ("tril", [X], {"k": 1}),
    ("eye_like", [X], {}),
    ("full_like", [X, np.array(2, "float32")], {}),
    ("matmul", [CUBE, X.T.copy()], {}),
    ("linear", [CUBE, X], {}),
    ("einsum", [[CUBE, X]], {"subscripts": "abc,bc->ac"}),
    ("outer", [ROW, ROW], {}),
    ("nn.softmax", [X], {}),
    ("nn.layer_norm", [X, ROW, ROW], {}),
    ("nn.rms_norm", [X, ROW], {}),
    ("nn.group_norm", [IMAGE, GAIN, GAIN], {"num_groups": 2, "axes": [2, 3]}),
    ("nn.instance_norm", [IMAGE, GAIN, GAIN], {"axes": [2, 3]}),
    ("nn.instance_norm", [some(2, 5, 3), some(5), some(5)], {"axes": [2]}),
    ("nn.conv2d", [IMAGE, some(3, 4, 3, 3)], {"padding": 1}),
    ("nn.conv2d_transpose", [IMAGE, some(4, 3, 3, 3)], {"strides": 2}),
    ("nn.max_pool2d", [IMAGE], {"pool_size": 2, "strides": 2}),
    ("nn.avg_pool2d", [IMAGE], {"pool_size": 3, "padding": 1}),
    ("nn.adaptive_avg_pool2d", [IMAGE], {"output_size": [2]}),
    ("nn.pad", [X], {"pad_width": [1, 2, 0, 1], "pad_mode": "circular"}),
    ("nn.pixel_shuffle", [IMAGE], {"upscale_factor": 2}),
    ("nn.nll_loss", [X, AT[:, 0].copy()], {}),
    ("nn.cross_entropy_with_logits", [X, X], {}),
    ("nn.attention", [some(2, 5, 2, 3), some(2, 7, 2, 3), some(2, 7, 2, 3)], {"causal_mask": "BottomRight"}),
    ("image.resize2d", [IMAGE, (3, 4)], {}),
    ("image.resize3d", [some(1, 2, 3, 5, 7), (5, 3, 4)], {"method": "cubic"}),
    ("image.resize", [some(3, 5, 7), (5, 4), (3, 4, 7, 5)], {"axes": [0, 2]}),
    ("image.resize_antialias", [some(3, 5, 7), (4,)], {"axes": [2]}),
    ("image.grid_sample", [IMAGE, some(2, 2, 3, 3)], {}),
    ("quantize", [X, np.array(0.1, "float32"), np.array(3, "int8")], {}),
]


@pytest.mark.parametrize(("name", "args", "attrs"), CASES, ids=[case[0] for case in CASES])
def test_symbolic(name, args, attrs):
    check_op(name, args, attrs, run_op(name, *args, **attrs), symbols=(5, 7), atol=1e-5)


def refused(name, args, attrs, symbols):
    with pytest.raises(Exception) as error:
        tilewright.compile(build(name, args, attrs, symbols))
    return str(error.value)


def test_what_needs_numbers():
    assert refused("nn.attention", [some(1, 3, 2, 7)] * 3, {}, [7]).startswith(
        "unsupported: legalize_ops: nn.attention: the head size is known only at run time"
    )
    assert refused("vision.get_valid_counts", [some(1, 3, 7)], {}, [7]).startswith(
        "unsupported: vision.get_valid_counts: the length of the rows of data is known only at run time"
    )


def test_bounds_of_a_slice_are_counted_at_run_time():
    with pytest.raises(Exception) as error:
        run_op("dynamic_strided_slice", X, *[np.ones(3, "int64")] * 3, symbols=[3])
    assert str(error.value).startswith(
        "error: dynamic_strided_slice: 3 bounds for float32[5, 7] with 2 dimensions"
    )


@pytest.mark.parametrize("y", ['"k"', '"n"', "7"])
def test_extents_that_differ_are_refused(y):
    """Of the shorter one memory behind it was read."""
    module = parse(f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("k",), "float32"), y: R.Tensor(({y},), "float32")):
        r = R.add(x, y)
        return r
""")
    main = tilewright.VirtualMachine(tilewright.compile(module))["main"]
    with pytest.raises(UserError):
        main(np.ones(5, "float32"), np.ones(7, "float32"))
