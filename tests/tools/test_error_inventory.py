"""tools/error_inventory.py: what counts as an error text, and as its test."""

import sys

import error_inventory
import pytest


def cpp(code):
    return [message.text for message in error_inventory.messages_of_cpp("a.cc", code)]


def python(code):
    return [message.text for message in error_inventory.messages_of_python("a.py", code)]


def test_text_after_a_place():
    assert cpp('throw UserError(loop->extent, "split: factor {} is {}", a, b).help("use 4");') == [
        "split: factor {} is {}"
    ]


def test_broken_text_is_joined():
    assert cpp('throw Unsupported("conv: groups {} "\n    "are not {}", a, b);') == [
        "conv: groups {} are not {}"
    ]


def test_quotes_are_unescaped():
    assert cpp(r'throw UserError("no \"main\" here");') == ['no "main" here']


def test_text_built_elsewhere_is_not_seen():
    assert cpp('throw UserError(span, text); log("hello");') == []


def test_comments_do_not_count():
    assert cpp('// throw UserError("old text");\n') == []


def test_internal_errors_do_not_count():
    assert cpp('throw InternalError("level {}", n);') == []


def test_python_f_string():
    assert python('raise ValueError(f"shape {shape} is not {other!r}")') == ["shape {} is not {}"]


def test_python_concatenation():
    assert python('raise ValueError("no device " + name)') == ["no device {}"]


def test_python_exception_without_text():
    assert python("raise KeyError(name)") == []


def test_fragment_is_the_longest_literal_part():
    message = error_inventory.Message("a.cc", "split: factors {} = {} do not cover loop {} of extent {}")
    assert message.fragment == "do not cover loop"


def test_braces_in_the_text_stay():
    assert (
        error_inventory.Message("a.cc", "{}: expected {{ after the name").fragment
        == ": expected { after the name"
    )


SOURCE = 'throw UserError("split: factor {} is not positive", factor);'


def run(root, monkeypatch, capsys, test="", listed="", *options):
    for name, text in {
        "tilewright/a.cc": SOURCE,
        "tests/a.py": test,
        "tools/untested_errors.txt": listed,
    }.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setattr(sys, "argv", ["error_inventory.py", *options, str(root)])
    code = error_inventory.main()
    return code, capsys.readouterr().out.splitlines()


def test_untested_text_is_named(tmp_path, monkeypatch, capsys):
    assert run(tmp_path, monkeypatch, capsys) == (
        1,
        [
            "tilewright/a.cc: split: factor {} is not positive: no test asserts `is not positive`",
            "errors: 1 texts, 0 tested, 0 listed as untested",
        ],
    )


@pytest.mark.parametrize(
    "test",
    [
        '"split: factor 0 is not positive"',
        r'r"split: factor 0 is\ not\ positive"',
        '"split: factor 0 is "\n    "not positive"',
    ],
)
def test_tested_text_passes(tmp_path, monkeypatch, capsys, test):
    assert run(tmp_path, monkeypatch, capsys, test) == (
        0,
        ["errors: 1 texts, 1 tested, 0 listed as untested"],
    )


LISTED = "tilewright/a.cc: split: factor {} is not positive\n"


def test_listed_text_passes(tmp_path, monkeypatch, capsys):
    assert run(tmp_path, monkeypatch, capsys, "", LISTED) == (
        0,
        ["errors: 1 texts, 0 tested, 1 listed as untested"],
    )


def test_tested_text_must_leave_the_list(tmp_path, monkeypatch, capsys):
    code, lines = run(tmp_path, monkeypatch, capsys, '"split: factor 0 is not positive"', LISTED)
    assert code == 1
    assert lines[0] == (
        "tools/untested_errors.txt: tested or gone, take it off (--shrink): tilewright/a.cc: split: factor {} is not positive"
    )


def test_shrink_takes_it_off(tmp_path, monkeypatch, capsys):
    run(tmp_path, monkeypatch, capsys, '"split: factor 0 is not positive"', LISTED, "--shrink")
    assert (tmp_path / "tools/untested_errors.txt").read_text() == error_inventory.LIST_HEADER
