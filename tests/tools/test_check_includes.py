"""tools/check_includes.py: which call of a precompiled header's function needs an include, and which does not."""

import check_includes

SERVICES = (
    "#pragma once\nbool structural_equal(const ObjectRef& a, const ObjectRef& b);\nstd::string repr(int);\n"
)


def problems(root, files):
    listed = "set(headers <map> ${PROJECT_SOURCE_DIR}/tilewright/ir/services.h)\n"
    files = {"cmake/TilewrightPch.cmake": listed, "tilewright/ir/services.h": SERVICES} | files
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return check_includes.check(root)


def test_call_without_the_include_is_reported(tmp_path):
    body = "bool f() {\n  return structural_equal(a, b);\n}\n"
    assert problems(tmp_path, {"tilewright/lower/f.cc": body}) == [
        "tilewright/lower/f.cc: calls structural_equal, but includes no tilewright/ir/services.h"
    ]


def test_include_through_another_header_suffices(tmp_path):
    files = {
        "tilewright/lower/g.h": '#include "tilewright/ir/services.h"\n',
        "tilewright/lower/f.cc": '#include "tilewright/lower/g.h"\nbool f() { return structural_equal(a, b); }\n',
    }
    assert problems(tmp_path, files) == []


def test_members_comments_and_own_functions_are_not_calls(tmp_path):
    files = {
        "tilewright/lower/f.cc": (
            "// as structural_equal(a, b)\n"
            "struct Printer {\n  std::string repr(int value) { return {}; }\n};\n"
            "bool g() { return options.structural_equal(a); }\n"
            "auto h() { return Printer().repr(1); }\n"
        )
    }
    assert problems(tmp_path, files) == []


def test_repository_passes():
    assert check_includes.check(check_includes.Path(check_includes.__file__).resolve().parent.parent) == []
