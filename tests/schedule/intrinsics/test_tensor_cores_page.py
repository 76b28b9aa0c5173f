"""The examples of docs/tensor-cores.md run, in their order; the names that it lists are known."""

import re
from pathlib import Path

import pytest

import tilewright
from tilewright.tir.tensor_intrin import cuda

PATH = Path(__file__).resolve().parents[3] / "docs/tensor-cores.md"
PAGE = PATH.read_text()


def test_its_examples_run(capsys):
    scope = {"__name__": "page"}
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        lines_before = PAGE[: PAGE.index(block)].count("\n")
        exec(compile("\n" * lines_before + block, str(PATH), "exec"), scope)
    printed = capsys.readouterr().out
    assert "product: 3 samples; " in printed
    assert "tw_ldmatrix_x4_trans(&B_shared_warp[" in printed
    assert printed.count("tw_mma_m16n8k16_f16_f16_f32(&C_warp[") == 2
    assert printed.count("__syncthreads();") == 2


def test_its_names_are_known():
    for name in re.findall(r"`(mma_\w+)`", PAGE):
        assert tilewright.tir.TensorIntrin.get(name).desc is not None


def test_constants_name_intrinsics():
    names = {value for key, value in vars(cuda).items() if key.endswith("_INTRIN")}
    assert len(names) > 20
    for name in names:
        assert tilewright.tir.TensorIntrin.get(name).desc is not None


def test_a_group_has_names_and_layouts():
    group = cuda.get_mma_intrin_group("shared.dyn", "shared.dyn", "int8", "int8", "int32", trans_b=True)
    assert group["load_b"] == "mma_ldmatrix_i8_b_trans_dyn"
    assert group["compute"] == "mma_i8i8i32_trans_b"
    assert group["store"] == "mma_store_16x16_i32_shared_dyn"
    places = {tuple(group["index_map_b"](j, k)) for j in range(16) for k in range(32)}
    assert places == {(lane, element) for lane in range(32) for element in range(16)}
    for name in ("init", "load_a", "load_b", "compute", "store"):
        assert tilewright.tir.TensorIntrin.get(group[name]).desc is not None


def test_other_dtypes_are_refused():
    with pytest.raises(tilewright.UserError) as caught:
        cuda.get_mma_intrin_group("shared", "global", "float64", "float16", "float32")
    assert "tensor cores have no intrinsics for float64\nhelp: float16, bfloat16, float32, int8" in str(
        caught.value
    )
