"""Refusals of graph operators, whole texts."""

import ml_dtypes
import numpy as np
import pytest
from op_testing import build, run_op

import tilewright
from tilewright.errors import UserError
from tilewright.script import parse


def f(*shape):
    return np.zeros(shape, "float32")


def i(*shape):
    return np.zeros(shape, "int64")


def bytes_of(*shape):
    return np.zeros(shape, "int8")


X, CUBE = f(5, 7), f(3, 5, 7)
MAPS, HEADS = f(1, 2, 5, 7), f(1, 5, 2, 3)
BOXES, DATA = f(1, 127, 4), f(1, 127, 6)
FLOAT_HELP = '\nhelp: cast it to float32 before, e.g. R.astype(x, "float32")'
REDUCTIONS = '"update", "add", "mul", "mean", "max" or "min"'

REFUSED = [
    ("argsort", [X], {"dtype": "int8"}, "dtype is int8, expected int32 or int64"),
    ("topk", [X], {"ret_type": "x"}, 'ret_type is "x", expected "values", "indices" or "both"'),
    ("topk", [X], {"k": 8}, "k is 8, but the dimension has 7 elements"),
    ("median", [f(0, 5)], {}, "dimension 0 of x [0, 5] has no elements, which have no median"),
    ("sort", [X], {"axis": 2}, "axis 2 is outside of a tensor with 2 dimensions"),
    ("log_add_exp", [i(5), i(5)], {}, "the arguments are int64, expected floating-point tensors"),
    ("nn.softplus", [X], {"beta": 0.0}, "beta is 0"),
    ("gather_elements", [X, X], {}, "indices is float32[5, 7], expected integers"),
    ("gather_nd", [X, i(3, 3)], {}, "indices [3, 3] with batch_dims 0 do not index data [5, 7]"),
    ("gather_nd", [X, i()], {}, "the last dimension of indices [] is not a constant"),
    ("index_tensor", [X, [i(3)] * 3], {}, "3 index tensors for float32[5, 7] with 2 dimensions"),
    ("index_tensor", [X, [X]], {}, "indices[0] is float32[5, 7], expected integers"),
    ("one_hot", [i(3), 1.0, 0], {"depth": 3}, "on_value is float32, but off_value is int64"),
    ("one_hot", [i(3), 1, 0], {"depth": 0}, "depth is 0, expected at least 1"),
    ("slice_scatter", [X, X, 0, 5, 0], {}, "step is 0, expected at least 1"),
    ("slice_scatter", [X, X, 0, 5, 2], {}, "src is [5, 7], but the slice of input [5, 7] is [3, 7]"),
    ("scatter_elements", [X, i(2, 3), f(2, 4)], {}, "updates is [2, 4], but indices is [2, 3]"),
    (
        "scatter_elements",
        [X, i(2, 3), f(2, 3)],
        {"reduction": "x"},
        f'reduction is "x", expected {REDUCTIONS}',
    ),
    ("scatter_nd", [X, i(2, 3), X], {}, "indices [2, 3] do not index data [5, 7]"),
    (
        "scatter_nd",
        [X, i(2, 1), X],
        {},
        "updates is [5, 7], expected [2, 7] for indices [2, 1] of data [5, 7]",
    ),
    ("index_put", [X, [X], X], {}, "indices[0] is float32[5, 7], expected integers"),
    ("index_put", [X, [i(3)] * 3, X], {}, "3 index tensors for float32[5, 7] with 2 dimensions"),
    ("dynamic_strided_slice", [X, i(3), i(2), i(2)], {}, "begin has 3 numbers, expected 2"),
    ("stack", [[X, CUBE]], {}, "tensor 0 is float32[5, 7], but tensor 1 is float32[3, 5, 7]"),
    ("meshgrid", [[X]], {}, "tensor 0 is float32[5, 7], expected a vector"),
    ("meshgrid", [[f(5)]], {"indexing": "x"}, 'indexing is "x", expected "ij" or "xy"'),
    ("collapse_sum_to", [X, (2, 7)], {}, "data is [5, 7], which [2, 7] does not broadcast to"),
    (
        "layout_transform",
        [f(12)],
        {"index_map": lambda i: (i + 3,), "pad_value": -1.0},
        "x is [12], its layout lambda i: i + 3: index i + 3 begins at 3, expected 0",
    ),
    (
        "layout_transform",
        [f(12)],
        {"index_map": lambda i: (i + 100000000,)},
        "x is [12], its layout lambda i: i + 100000000: index i + 100000000 begins at 100000000, expected 0",
    ),
    (
        "layout_transform",
        [f(12)],
        {"index_map": lambda i: (i // 4 + 1, i % 4)},
        "x is [12], its layout lambda i: (i // 4 + 1, i % 4): index i // 4 + 1 begins at 1, expected 0",
    ),
    (
        "layout_transform",
        [f(12)],
        {"index_map": lambda i: (2, i)},
        "x is [12], its layout lambda i: (2, i): index 2 begins at 2, expected 0",
    ),
    (
        "layout_transform",
        [f(12)],
        {"index_map": lambda i: (i // 7, i % 7, 3)},
        "x is [12], its layout lambda i: (i // 7, i % 7, 3): index 3 begins at 3, expected 0",
    ),
    (
        "layout_transform",
        [f(12)],
        {"index_map": lambda i: (i - 3,)},
        "x is [12], its layout lambda i: i - 3: index i - 3 may be negative",
    ),
    (
        "memory.view",
        [np.zeros(4, "uint8"), (9,)],
        {"dtype": "int4"},
        "5 bytes from byte 0 on are asked for, but data uint8[4] has 4",
    ),
    (
        "memory.view",
        [np.zeros(8, ml_dtypes.int4), (8,)],
        {"dtype": "uint8"},
        "8 bytes from byte 0 on are asked for, but data int4[8] has 4",
    ),
    ("tril", [f(5)], {}, "x is float32[5], expected at least 2 dimensions"),
    ("hamming_window", [5], {"dtype": "int32"}, "dtype is int32, expected a floating-point one"),
    (
        "nn.pixel_shuffle",
        [CUBE],
        {"upscale_factor": 2},
        "3 channels of data [3, 5, 7] do not divide into 2 * 2",
    ),
    ("nn.pixel_shuffle", [CUBE], {"upscale_factor": 0}, "upscale_factor is 0, expected at least 1"),
    ("nn.pixel_shuffle", [X], {"upscale_factor": 2}, "data is float32[5, 7], expected at least 3 dimensions"),
    (
        "nn.pad",
        [f(5)],
        {"pad_width": [1, 1], "pad_mode": "x"},
        'pad_mode is "x", expected "constant", "replicate", "reflect" or "circular"',
    ),
    ("nn.group_norm", [f(2, 4, 5), f(4), f(4)], {"num_groups": 3}, "4 channels do not divide into 3 groups"),
    ("nn.group_norm", [f(2, 4, 5), f(4), f(4)], {"num_groups": 0}, "num_groups is 0, expected at least 1"),
    (
        "nn.instance_norm",
        [f(2, 4, 5), f(5), f(4)],
        {},
        "gamma is [5], expected one value for each of 4 channels",
    ),
    ("nn.instance_norm", [f(2, 4, 5), f(4), f(4)], {"axes": [1]}, "axes contain the channel axis 1"),
    (
        "nn.instance_norm",
        [i(2, 4, 5), f(4), f(4)],
        {},
        "data is int64[2, 4, 5], expected a floating-point tensor",
    ),
    (
        "nn.attention",
        [f(2, 5, 4, 7), f(2, 7, 4, 5), f(2, 7, 4, 5)],
        {},
        "query is [2, 5, 4, 7], but key is [2, 7, 4, 5]: they differ in dimension 3",
    ),
    (
        "nn.attention",
        [f(2, 5, 4, 7), f(2, 7, 3, 7), f(2, 7, 3, 7)],
        {},
        "query has 4 heads, which do not divide among the 3 of key",
    ),
    (
        "nn.attention",
        [f(2, 5, 4, 7)] * 3,
        {"causal_mask": "x"},
        'causal_mask is "x", expected "TopLeft" or "BottomRight"',
    ),
    ("nn.attention", [f(2, 5, 4, 7)] * 3, {"scale": "x"}, "scale is not a number"),
    ("nn.attention", [i(2, 5, 4, 7)] * 3, {}, "query is int64, expected a floating-point tensor"),
    (
        "nn.attention",
        [*[f(2, 5, 4, 7)] * 3, f(3, 2, 4, 5, 5)],
        {},
        "bias is [3, 2, 4, 5, 5], which does not broadcast to [2, 4, 5, 5]",
    ),
    ("nn.cross_entropy_with_logits", [X, f(5, 5)], {}, "predictions is [5, 7], but labels is [5, 5]"),
    ("nn.nll_loss", [X, X], {}, "targets is float32[5, 7], expected integers"),
    ("nn.nll_loss", [X, i(7)], {}, "targets is [7], expected [5] for predictions [5, 7]"),
    ("nn.nll_loss", [X, i(5)], {"reduction": "x"}, 'reduction is "x", expected "none", "sum" or "mean"'),
    ("nn.nll_loss", [f(), i()], {}, "predictions is a scalar, expected classes"),
    ("einsum", [[X]], {"subscripts": "ij,jk"}, 'subscripts "ij,jk" are for 2 operands, but 1 are given'),
    ("einsum", [[X]], {"subscripts": "ijk"}, 'operand 0 is float32[5, 7], but its subscripts are "ijk"'),
    ("einsum", [[X, X]], {"subscripts": "ij,jk"}, "dimension j has extent 7, but is 5 in operand 1 [5, 7]"),
    ("einsum", [[X]], {"subscripts": "ij->k"}, 'the result of "ij->k" cannot have dimension k'),
    (
        "einsum",
        [[X, i(7, 5)]],
        {"subscripts": "ij,jk"},
        "operand 0 is float32[5, 7], but operand 1 is int64[7, 5]",
    ),
    ("linear", [X, X.T.copy()], {}, "data is [5, 7], weight is [7, 5]: contracted lengths 7 and 5 differ"),
    ("linear", [f(7), X, CUBE[:, :, :5].copy()], {}, "bias is [3, 5, 5], which does not broadcast to [5]"),
    ("quantize", [X, f(5), i(5)], {}, "scale is [5], but dimension 1 of data [5, 7] has extent 7"),
    ("quantize", [X, X, i(5)], {}, "scale is float32[5, 7], expected a scalar or a vector"),
    ("quantize", [X, f(), i()], {"out_dtype": "float32"}, "out_dtype is float32, expected integers"),
    (
        "dequantize",
        [i(5), f(), i()],
        {"out_dtype": "int32"},
        "out_dtype is int32, expected a floating-point dtype",
    ),
    ("dequantize", [i(5), f(), i()], {"block_size": -1}, "block_size is -1, expected at least 0"),
    (
        "dequantize",
        [i(5, 7), f(2, 7), i(3, 7)],
        {"axis": 0, "block_size": 2},
        "scale is [2, 7], but data [5, 7] in blocks of 2 along dimension 0 has extent 3 there",
    ),
    (
        "dequantize_matmul",
        [X, f(7, 5), f(1, 5)],
        {},
        "data is float32[7, 5], expected int8, or int32 that hold eight numbers of 4 bits",
    ),
    (
        "dequantize_matmul",
        [X, bytes_of(7, 5), f(1, 5), f(1, 5)],
        {},
        "zero_point is float32[1, 5], expected int8",
    ),
    (
        "dequantize_matmul",
        [X, bytes_of(7, 5), f(2, 5)],
        {},
        "data is int8[7, 5], scale is float32[2, 5]: expected as many columns, and rows in groups of one size",
    ),
    (
        "dequantize_matmul",
        [X, bytes_of(8, 5), f(2, 5), bytes_of(1, 5)],
        {},
        "data is int8[8, 5], zero_point is int8[1, 5]: expected as many columns, and rows in groups of one size",
    ),
    ("dequantize_matmul", [f(), bytes_of(7, 5), f(1, 5)], {}, "x is a scalar; use multiply"),
    (
        "dequantize_matmul",
        [X, bytes_of(12, 5), f(3, 5)],
        {},
        "x is float32[5, 7], data holds 12 numbers for each column: expected at most 3 more than x has",
    ),
    ("image.resize2d", [f(1, 2, 5, 7), (5,)], {}, "size has 1 extents, expected height and width"),
    (
        "image.resize2d",
        [f(1, 2, 5, 7), (5, 5)],
        {"method": "x"},
        'method is "x", expected one of nearest_neighbor, linear, cubic',
    ),
    ("image.resize2d", [f(1, 2, 5, 7), (5, 5)], {"roi": [1]}, "roi is not a list of 4 numbers"),
    (
        "image.resize3d",
        [f(1, 2, 5, 7, 3), (5, 5)],
        {},
        "size has 2 extents, expected depth, height and width",
    ),
    (
        "image.resize3d",
        [f(1, 2, 5, 7, 3), (5, 5, 5)],
        {"layout": "NCHW"},
        'layout is "NCHW", expected one of NCDHW, NDHWC',
    ),
    ("image.resize3d", [f(1, 2, 5, 7, 3), (5, 5, 5)], {"roi": [0] * 4}, "roi is not a list of 6 numbers"),
    ("image.resize", [X, (5, 5, 5)], {}, "size has 3 extents, expected 2"),
    ("image.resize", [X, (5,)], {"axes": [2]}, "axis 2 is outside of a tensor with 2 dimensions"),
    ("image.resize", [X, (5, 5)], {"axes": [1, 0]}, "axes are [1, 0], expected them in order"),
    ("image.resize", [X, (5, 5), (1, 2)], {}, "steps has 2 numbers, expected 4"),
    ("image.resize", [X, (5,), (-1, 2)], {"axes": [1]}, "a step is -1, expected at least 0"),
    ("image.resize", [f(0, 3), (2,)], {"axes": [0]}, "dimension 0 of data [0, 3] is empty, size is 2"),
    ("image.resize_antialias", [X, (5, 5)], {}, "axes has 0 numbers, expected 1"),
    (
        "image.resize_antialias",
        [X, (5,)],
        {"axes": [0], "method": "nearest_neighbor"},
        'method is "nearest_neighbor", expected one of linear, cubic',
    ),
    (
        "image.grid_sample",
        [f(1, 2, 5, 7), f(1, 3, 5, 7)],
        {},
        "grid is [1, 3, 5, 7], expected [1, 2, ...] for data [1, 2, 5, 7]",
    ),
    (
        "image.grid_sample",
        [f(1, 2, 0, 7), f(1, 2, 5, 7)],
        {},
        "dimension 2 of data [1, 2, 0, 7] has no elements for indices [1, 2, 5, 7]",
    ),
    ("det", [f(7)], {}, "x is float32[7], expected matrices"),
    ("det", [f(2, 5, 7)], {}, "x is [2, 5, 7], expected square matrices"),
    (
        "vision.select_boxes",
        [BOXES, f(1, 2, 5), i(), f(), f()],
        {},
        "boxes is [1, 127, 4], but scores is [1, 2, 5]",
    ),
    (
        "vision.select_boxes",
        [BOXES, f(1, 2, 127), f(), f(), f()],
        {},
        "most_per_class is float32[], expected int64",
    ),
    ("image.affine_grid", [f(1, 3, 3), (5, 7)], {}, "data is [1, 3, 3], expected [batch, 2, 3]"),
    (
        "image.affine_grid",
        [f(1, 3, 4), (5, 7, 3, 2)],
        {},
        "size has 4 extents, expected height and width, or depth, height and width",
    ),
    ("reverse_sequence", [X, f(5)], {}, "seq_lengths is float32[5], expected integers"),
    ("reverse_sequence", [X, i(7)], {}, "seq_lengths is [7], but data is [5, 7] and batch_axis 0"),
    ("reverse_sequence", [X, i(5)], {"seq_axis": -2}, "seq_axis and batch_axis are both 0"),
    (
        "vision.non_max_suppression",
        [DATA, np.zeros(1, "int32"), np.zeros((1, 127), "int32")],
        {"soft_nms_sigma": -0.5},
        "soft_nms_sigma is -0.5, expected at least 0",
    ),
    ("vision.get_valid_counts", [i(1, 5, 6)], {}, "data is int64[1, 5, 6], expected float32"),
    (
        "vision.get_valid_counts",
        [DATA],
        {"score_index": 6},
        "score_index is 6, which is outside of rows of 6",
    ),
    (
        "vision.non_max_suppression",
        [DATA, np.zeros(1, "int32"), np.zeros((1, 5), "int32")],
        {},
        "data is [1, 127, 6], expected valid_count [1] and indices [1, 127]",
    ),
    (
        "vision.all_class_non_max_suppression",
        [DATA, f(1, 2, 127)],
        {},
        "boxes is [1, 127, 6], expected extent 4 in dimension 2",
    ),
    (
        "vision.all_class_non_max_suppression",
        [BOXES, f(1, 2, 5)],
        {},
        "boxes is [1, 127, 4], but scores is [1, 2, 5]",
    ),
    (
        "vision.roi_align",
        [MAPS, f(3, 4)],
        {"pooled_size": [2, 2]},
        "rois is [3, 4], expected extent 5 in dimension 1",
    ),
    (
        "vision.roi_pool",
        [MAPS, f(3, 5)],
        {"pooled_size": [2], "layout": "x"},
        'layout is "x", expected "NCHW" or "NHWC"',
    ),
    (
        "vision.roi_pool",
        [MAPS, f(3, 5)],
        {"pooled_size": [2, 0]},
        "pooled_size is [2, 0], expected height and width, at least 1",
    ),
    (
        "vision.roi_pool",
        [f(1, 2, 0, 7), f(3, 5)],
        {"pooled_size": [2]},
        "data is [1, 2, 0, 7], which has no elements",
    ),
    (
        "vision.roi_align",
        [MAPS, f(3, 5)],
        {"pooled_size": [2], "sample_ratio": 1025},
        "sample_ratio is 1025, expected at most 1024",
    ),
    (
        "vision.roi_align",
        [MAPS, f(3, 5)],
        {"pooled_size": [2], "mode": "x"},
        'mode is "x", expected "avg", "max" or "max_of_terms"',
    ),
    (
        "vision.multibox_transform_loc",
        [i(1, 3, 5), i(1, 20), i(1, 5, 4)],
        {},
        "cls_pred is int64, expected a floating-point tensor",
    ),
    (
        "vision.multibox_transform_loc",
        [f(1, 3, 5), f(1, 19), f(1, 5, 4)],
        {},
        "loc_pred is [1, 19], expected [1, 20] for cls_pred [1, 3, 5]",
    ),
    (
        "vision.multibox_transform_loc",
        [f(1, 3, 5), f(1, 20), f(1, 7, 4)],
        {},
        "anchor is [1, 7, 4], but cls_pred is [1, 3, 5]",
    ),
    (
        "vision.multibox_transform_loc",
        [f(1, 3, 5), f(1, 20), f(1, 5, 4)],
        {"variances": [0.1]},
        "variances is not a list of 4 numbers",
    ),
    (
        "nn.attention_var_len",
        [HEADS, HEADS, HEADS, f(3), i()],
        {},
        "seqstart_q is float32[3], expected integers",
    ),
    (
        "nn.attention_var_len",
        [HEADS, HEADS, HEADS, i(0), i()],
        {},
        "seqstart_q is [0], expected 0 and where each sequence ends",
    ),
    (
        "nn.attention_var_len",
        [f(2, 5, 2, 3), f(2, 5, 2, 3), f(2, 5, 2, 3), i(3), i()],
        {},
        "queries is [2, 5, 2, 3], expected sequences one after the other in one batch",
    ),
    ("split", [X, 2**31], {}, "2147483648 pieces, expected at most 65536"),
    ("bitwise_not", [X], {}, "x is float32[5, 7], expected integers or bool"),
    ("eye", [-5], {}, "the result would be [-5, -5], with a negative extent"),
    (
        "std",
        [i(5)],
        {},
        'x is int64[5], expected a floating-point tensor\nhelp: cast it, e.g. R.astype(x, "float32")',
    ),
    ("inspect.tensor_shape_i", [X, 2], {}, "axis 2 is outside of a tensor with 2 dimensions"),
    ("ccl.allreduce", [X], {"op_type": "x"}, 'op_type is "x", expected "sum", "prod", "min", "max" or "avg"'),
]

UNSUPPORTED = [
    (
        "einsum",
        [[X]],
        {"subscripts": ".."},
        'einsum: "." in subscripts ".."\nhelp: write a letter for each dimension',
    ),
    (
        "vision.all_class_non_max_suppression",
        [BOXES, f(1, 2, 127)],
        {"output_format": "tensorflow"},
        'vision.all_class_non_max_suppression: output_format "tensorflow"\nhelp: use "onnx"',
    ),
    ("ccl.allgather", [X], {"num_workers": 2}, "ccl.allgather: 2 workers\nhelp: programs run in one process"),
]


def told(error):
    """The text without what kind of error it is and without where."""
    return str(error.value).split(": ", 1)[1]


@pytest.mark.parametrize(
    ("name", "args", "attrs", "text"), REFUSED, ids=lambda x: x if isinstance(x, str) else ""
)
def test_refused(name, args, attrs, text):
    with pytest.raises(UserError) as error:
        build(name, args, attrs)
    assert told(error) == f"{name}: {text}"


@pytest.mark.parametrize(
    ("name", "args", "attrs", "text"), UNSUPPORTED, ids=lambda x: x if isinstance(x, str) else ""
)
def test_unsupported(name, args, attrs, text):
    with pytest.raises(Exception) as error:
        build(name, args, attrs)
    assert str(error.value) == f"unsupported: {text}"


def refused_at_run_time(name, *args, **attrs):
    with pytest.raises(Exception) as error:
        run_op(name, *args, **attrs)
    return str(error.value)


def test_indices_of_unknown_shape():
    module = parse("""
@R.function
def main(x: R.Tensor((5, 7), "float32"), i: R.Tensor(ndim=2, dtype="int64"), u: R.Tensor(ndim=2, dtype="float32")):
    r = R.scatter_elements(x, i, u)
    return r
""")
    main = tilewright.VirtualMachine(tilewright.compile(module))["main"]
    with pytest.raises(UserError) as error:
        main(X, i(2, 8), f(2, 8))
    assert str(error.value).startswith(
        "error: scatter_elements: indices int64[2, 8] and updates float32[2, 8] do not fit data float32[5, 7]"
    )


def test_indices_outside():
    assert refused_at_run_time("scatter_elements", X, np.full((1, 1), 9), f(1, 1)).startswith(
        "error: scatter_elements: index 9 is outside of a dimension of extent 5"
    )
    assert refused_at_run_time("scatter_elements", X, i(2, 8), f(2, 8)).startswith(
        "error: scatter_elements: indices is [2, 8], which is larger than data [5, 7] in dimension 1"
    )
    assert refused_at_run_time("index_put", X, [i(3)], f(4, 7)).startswith(
        "error: index_put: values float32[4, 7] and indices do not fit places [3] of data float32[5, 7]"
    )
    assert refused_at_run_time("dynamic_strided_slice", X, i(2), i(2), i(2)).startswith(
        "error: dynamic_strided_slice: the stride of dimension 0 is 0"
    )


def test_floats_of_8_bits_are_not_sorted():
    assert refused_at_run_time("sort", X.astype(ml_dtypes.float8_e5m2)).startswith(
        "unsupported: sort: tensors of dtype float8_e5m2 are not supported"
    )
