"""Target "llvm": machine code in memory and in files, and the texts that it can be shown as."""

import re

import numpy as np
import pytest

import tilewright
from tilewright.script import tir as T

AVX2 = "llvm -mtriple=x86_64-pc-linux-gnu -mcpu=haswell"


@T.prim_func
def scaled(A: T.Buffer((127,), "float32"), B: T.Buffer((127,), "float32")):
    for i in range(127):
        with T.block("B"):
            vi = T.axis.spatial(127, i)
            B[vi] = A[vi] * T.float32(3)


@pytest.mark.parametrize("options", ["", "-opt-level=0", "-opt-level=3", "-mcpu=x86-64", "-mcpu=core-avx2"])
def test_numbers(options):
    a, b = np.arange(127, dtype="float32"), np.zeros(127, "float32")
    tilewright.build(scaled, target=f"llvm {options}")["scaled"](a, b)
    np.testing.assert_array_equal(b, a * 3)


def test_texts():
    library = tilewright.build(scaled, target=AVX2)
    assert "define " in library.get_source("ll") and '"target-cpu"="haswell"' in library.get_source("ll")
    assert re.search(r"vmulps\s.*ymm", library.get_source("asm"))
    assert "T.vectorized" not in library.get_source("lowered")


def test_an_unknown_text_is_refused():
    with pytest.raises(tilewright.UserError) as error:
        tilewright.build(scaled, target=AVX2).get_source("ptx")
    assert (
        str(error.value)
        == 'error: there is no source of format "ptx"\nhelp: the formats are "ll", "asm", "lowered"'
    )


def test_a_library_in_a_file(tmp_path):
    tilewright.build(scaled).export_library(tmp_path / "scaled.so")
    a, b = np.arange(127, dtype="float32"), np.zeros(127, "float32")
    tilewright.load_module(str(tmp_path / "scaled.so"))["scaled"](a, b)
    np.testing.assert_array_equal(b, a * 3)


def test_an_object_of_another_machine(tmp_path):
    tilewright.build(scaled, target="llvm -mtriple=aarch64-linux-gnu").export_library(tmp_path / "scaled.o")
    header = (tmp_path / "scaled.o").read_bytes()[:20]
    assert header[:4] == b"\x7fELF" and header[18] == 183  # EM_AARCH64
