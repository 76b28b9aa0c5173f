"""The lists of docs/ are what tools/doc_lists.py makes of the program."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = runpy.run_path(str(ROOT / "tools/doc_lists.py"))


@pytest.mark.parametrize("name", TOOL["LISTS"])
def test_the_list_is_what_the_program_has(name):
    page, make = TOOL["LISTS"][name]
    before, found, after = TOOL["split"](name, (ROOT / page).read_text())
    assert found == make(before + after), "make docs writes it anew"


def test_a_page_without_the_list_is_told():
    with pytest.raises(SystemExit, match=r"^docs/cli.md has no list called commands$"):
        TOOL["split"]("commands", "# A page\n")


def test_passes_of_other_tables_are_left_out():
    _, make = TOOL["LISTS"]["passes"]
    assert "`normalize()`" in make("")
    assert "`normalize()`" not in make("| `normalize` | 0 | told elsewhere |\n")
