"""tools/check_sizes.py: limits and their exceptions."""

import check_sizes
import pytest


def tree(root, exceptions, files):
    (root / "tools").mkdir()
    (root / "tools" / "sizes.txt").write_text(exceptions)
    for name, lines in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x\n" * lines)
    return check_sizes.check(root)


def test_600_lines_pass(tmp_path):
    assert tree(tmp_path, "", {"tilewright/ir/a.cc": 600}) == []


def test_601_lines_are_too_many(tmp_path):
    assert tree(tmp_path, "", {"python/tilewright/a.py": 601}) == [
        "python/tilewright/a.py: 601 lines, the limit is 600"
    ]


def test_exception_raises_the_limit(tmp_path):
    assert tree(tmp_path, "tilewright/ir/a.cc 700 one table\n", {"tilewright/ir/a.cc": 700}) == []


def test_exception_has_a_limit_too(tmp_path):
    problems = tree(tmp_path, "tilewright/ir/a.cc 700 one table\n", {"tilewright/ir/a.cc": 701})
    assert problems == ["tilewright/ir/a.cc: 701 lines, the limit is 700"]


def test_needless_exception_must_go(tmp_path):
    problems = tree(tmp_path, "tilewright/ir/a.cc 700 one table\n", {"tilewright/ir/a.cc": 20})
    assert problems == ["tools/sizes.txt: tilewright/ir/a.cc needs no exception any more"]


def test_exception_needs_a_reason(tmp_path):
    with pytest.raises(SystemExit, match=r"sizes.txt:1: expected `path limit reason`, got: a.cc 700"):
        tree(tmp_path, "a.cc 700\n", {})
