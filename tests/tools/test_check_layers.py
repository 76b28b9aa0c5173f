"""tools/check_layers.py: which include is refused, and with which words."""

import check_layers


def write(root, name, text):
    file = root / "tilewright" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def tree(root, files):
    write(root, "layers.txt", "# bottom to top\nsupport\nir\ncodegen\nfrontend\ncli\npython\n")
    for name, text in files.items():
        write(root, name, text)
    return check_layers.check(root)


def test_include_of_a_lower_layer_passes(tmp_path):
    assert tree(tmp_path, {"ir/node.h": '#include "tilewright/support/ref.h"\n#include <vector>\n'}) == []


def test_include_of_a_higher_layer_is_refused(tmp_path):
    problems = tree(tmp_path, {"support/ref.h": '#pragma once\n#include "tilewright/ir/node.h"\n'})
    assert problems == [
        "tilewright/support/ref.h:2: includes tilewright/ir/node.h, but layer support is below ir"
    ]


def test_llvm_is_allowed_only_in_codegen_llvm(tmp_path):
    files = {
        "codegen/llvm/emit.cc": "#include <llvm/IR/Module.h>\n",
        "codegen/c.cc": '#include "llvm/IR/Module.h"\n',
    }
    assert tree(tmp_path, files) == [
        "tilewright/codegen/c.cc:1: includes llvm/IR/Module.h, but LLVM headers may be included only below tilewright/codegen/llvm"
    ]


def test_builds_without_llvm_have_no_file_that_uses_it(tmp_path):
    files = {
        "frontend/load_llvm.cc": '#include "tilewright/codegen/llvm/native.h"\n',
        "frontend/load.cc": '#include "tilewright/codegen/llvm/native.h"\n',
    }
    assert tree(tmp_path, files) == [
        "tilewright/frontend/load.cc:1: includes tilewright/codegen/llvm/native.h, but builds without LLVM have only files "
        "that do without it; those that do not have llvm in their names"
    ]


def test_nanobind_is_allowed_only_in_python(tmp_path):
    files = {
        "python/core.cc": "#include <nanobind/nanobind.h>\n",
        "cli/main.cc": "#include <nanobind/nanobind.h>\n",
    }
    assert tree(tmp_path, files) == [
        "tilewright/cli/main.cc:1: includes nanobind/nanobind.h, but Python headers may be included only below tilewright/python"
    ]


def test_unknown_layer_is_named(tmp_path):
    assert tree(tmp_path, {"ir/node.h": '#include "tilewright/magic/wand.h"\n'}) == [
        "tilewright/ir/node.h:1: includes tilewright/magic/wand.h, but there is no layer magic in tilewright/layers.txt"
    ]


def test_folder_that_is_no_layer_is_named(tmp_path):
    assert tree(tmp_path, {"magic/wand.h": ""}) == [
        "tilewright/magic/wand.h: folder magic is not in tilewright/layers.txt"
    ]


def test_this_repository_passes():
    root = check_layers.Path(check_layers.__file__).resolve().parent.parent
    assert check_layers.check(root) == []


ROOMS = "# rooms\nir\n  nodes\n  .\n  passes\ntir\n"


def tree_with_rooms(root, files):
    for name, text in files.items():
        write(root, name, text)
    write(root, "layers.txt", ROOMS)
    return check_layers.check(root)


def test_rooms_include_those_before_them(tmp_path):
    files = {
        "ir/passes/fold.cc": '#include "tilewright/ir/pass.h"\n#include "tilewright/ir/nodes/expr.h"\n',
        "ir/pass.h": '#include "tilewright/ir/nodes/expr.h"\n',
        "tir/op.h": '#include "tilewright/ir/passes/fold.h"\n',
    }
    assert tree_with_rooms(tmp_path, files) == []


def test_a_room_does_not_include_one_after_it(tmp_path):
    files = {
        "ir/nodes/expr.h": '#include "tilewright/ir/pass.h"\n',
        "ir/pass.h": '#include "tilewright/ir/passes/inner/fold.h"\n',
    }
    assert tree_with_rooms(tmp_path, files) == [
        "tilewright/ir/nodes/expr.h:1: includes tilewright/ir/pass.h, but room nodes is below .",
        "tilewright/ir/pass.h:1: includes tilewright/ir/passes/inner/fold.h, but room . is below passes",
    ]


def test_a_folder_is_a_room_or_lies_in_one(tmp_path):
    assert tree_with_rooms(tmp_path, {"ir/attic/old.cc": "int old;\n"}) == [
        "tilewright/ir/attic/old.cc: room attic of ir is not in tilewright/layers.txt"
    ]
