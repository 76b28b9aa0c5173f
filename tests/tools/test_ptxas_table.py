"""The table of what kernels for NVIDIA's GPUs take: each kernel is there, and none spills."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import ptxas_table  # noqa: E402


def table() -> list[list[str]]:
    text = ptxas_table.PAGE.read_text().partition(ptxas_table.BEGIN)[2].partition(ptxas_table.END)[0]
    return [line.strip("| ").split(" | ") for line in text.strip().splitlines()[2:]]


def test_each_kernel_is_there():
    assert [row[0] for row in table()] == [name for name, *_ in ptxas_table.KERNELS]
    assert all(len(row) == 1 + len(ptxas_table.ARCHITECTURES) for row in table())


def test_none_spills():
    for row in table():
        for cell in row[1:]:
            for kernel in cell.split("; "):
                assert re.fullmatch(r"\d+, \d+, 0", kernel), row


@pytest.mark.parametrize("architecture", ptxas_table.ARCHITECTURES)
def test_what_the_compiler_says_now(architecture):
    ptxas_table.name_nvcc_of_pypi()
    if not ptxas_table.is_there():
        pytest.skip("nvcc is not installed")
    _, params, call = ptxas_table.KERNELS[2]
    for registers, shared, spilled in ptxas_table.usage(
        ptxas_table.source_of(params, call, architecture), architecture
    ):
        assert registers <= 255 and shared <= 49152 and spilled == 0
