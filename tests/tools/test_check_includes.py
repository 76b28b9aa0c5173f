"""tools/check_includes.py: which call of a precompiled header's function needs an include, and which does not."""

import check_includes

SERVICES = (
    "#pragma once\n#include <string>\n"
    "bool structural_equal(const ObjectRef& a, const ObjectRef& b);\nstd::string repr(int);\n"
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
            "#include <string>\n"
            "// as structural_equal(a, b)\n"
            "struct Printer {\n  std::string repr(int value) { return {}; }\n};\n"
            "bool g() { return options.structural_equal(a); }\n"
            "auto h() { return Printer().repr(1); }\n"
        )
    }
    assert problems(tmp_path, files) == []


def test_names_of_the_standard_library_need_their_header(tmp_path):
    files = {
        "tilewright/lower/f.h": "#include <vector>\nstd::vector<size_t> order();\n",
        "tilewright/lower/f.cc": (
            '#include "tilewright/lower/f.h"\n'
            "std::vector<size_t> order() { return std::any_of(a, b, c) ? x : y; }\n"
        ),
    }
    assert problems(tmp_path, files) == [
        "tilewright/lower/f.h: uses size_t, but includes no <cstddef>",
        "tilewright/lower/f.cc: uses std::any_of, but includes no <algorithm>",
        "tilewright/lower/f.cc: uses size_t, but includes no <cstddef>",
    ]


def test_names_in_strings_and_other_headers_that_declare_them_need_none(tmp_path):
    files = {
        "tilewright/lower/f.cc": (
            "#include <string>\nsize_t f() { return 0; }\nstd::size_t g();\n"
            'const char* text = "std::vector<int> a";\n'
        )
    }
    assert problems(tmp_path, files) == []


def test_repository_passes():
    assert check_includes.check(check_includes.Path(check_includes.__file__).resolve().parent.parent) == []
