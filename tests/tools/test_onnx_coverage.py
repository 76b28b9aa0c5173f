"""docs/onnx-coverage.md is what tools/onnx_coverage.py makes of running ONNX's cases."""

import os
import re
import runpy
from pathlib import Path

import pytest
from onnx_cases import KINDS, Outcome, cases, outcomes

ROOT = Path(__file__).resolve().parents[2]
TOOL = runpy.run_path(str(ROOT / "tools/onnx_coverage.py"))
PAGE = TOOL["PAGE"].read_text()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(
    os.environ.get("TILEWRIGHT_ONNX_CASES") != "all",
    reason="takes minutes; TILEWRIGHT_ONNX_CASES=all runs it, each day a sample runs in test_nodes.py",
)
def test_the_page_is_what_becomes_of_the_cases_now():
    found = outcomes(cases(), processes=1)
    assert [f"{each.name}: {each.reason}" for each in found if each.result == "wrong"] == []
    assert TOOL["page"](found) == PAGE, "python tools/onnx_coverage.py writes it anew"


def test_every_case_has_an_outcome_and_none_is_wrong():
    row = re.search(r"^\| all \| (\d+) \| (\d+) \| (\d*) ?\| (\d*) ?\| \|$", PAGE, re.MULTILINE)
    numbers = [int(number or 0) for number in row.groups()]
    assert numbers[0] == len(cases()) == sum(numbers[1:])
    assert len(TOOL["listed"](PAGE)) == numbers[2] + numbers[3]


def test_kinds_of_cases():
    assert tuple(TOOL["TITLES"]) == KINDS
    assert [sum(case.kind == kind for case in cases()) for kind in KINDS] == [1404, 480, 23, 82, 35, 9]


def test_a_page_of_four_cases():
    found = [
        Outcome("test_a", "node", "A", "passed", constants=1, is_folded=True),
        Outcome("test_a_later", "node", "A", "refused", "the operator A is not imported"),
        Outcome("test_a_expanded", "node-expanded", "A", "passed"),
        Outcome("test_b", "light", "light", "wrong", "the process ended"),
    ]
    text = TOOL["page"](found)
    assert "| all | 4 | 2 | 1 | | 1 |" in text
    assert "| A | 1 | 1 | | | 1 | 1 of 1 | the operator A is not imported (1) |" in text
    assert TOOL["listed"](text) == {
        "test_a_later": "the operator A is not imported",
        "test_b": "the process ended",
    }
