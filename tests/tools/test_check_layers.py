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


PYTHON_LAYERS = "# bottom to top\nerrors\nir\ntir\nrelax.op\nrelax.__init__\n.\n"


def python_tree(root, files, layers=PYTHON_LAYERS):
    """What check_python says of a package of these files, and of one for each layer that they leave out."""
    (root / "python").mkdir()
    (root / "python" / "layers.txt").write_text(layers)
    rest = {"__init__.py", "errors.py", "ir/__init__.py", "tir.py", "relax/__init__.py", "relax/op.py"}
    for name, text in (dict.fromkeys(rest, "") | files).items():
        file = root / "python" / "tilewright" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return check_layers.check_python(root)


def test_python_imports_of_lower_layers_pass(tmp_path):
    files = {
        "__init__.py": "from . import ir, relax\nfrom .relax import op\n",
        "tir.py": "import os\nimport tilewright.ir\nfrom tilewright.errors import Error\nfrom . import _core, ir\n",
        "relax/__init__.py": "from ..tir import Var\nfrom . import op\n",
        "relax/op.py": "def f():\n    from .. import tir\n",
    }
    assert python_tree(tmp_path, files) == []


def test_python_import_of_a_higher_layer_is_refused(tmp_path):
    files = {
        "errors.py": "from . import ir\n",
        "ir/__init__.py": "import tilewright.tir\n",
        "tir.py": "from tilewright.relax import op\nfrom . import something\n",
        "relax/op.py": "from . import nothing\n",
    }
    assert python_tree(tmp_path, files) == [
        "python/tilewright/errors.py:1: imports tilewright.ir, but layer errors is below ir",
        "python/tilewright/ir/__init__.py:1: imports tilewright.tir, but layer ir is below tir",
        "python/tilewright/relax/op.py:1: imports tilewright.relax, but layer relax.op is below relax.__init__",
        "python/tilewright/tir.py:1: imports tilewright.relax.op, but layer tir is below relax.op",
        "python/tilewright/tir.py:2: imports tilewright, but layer tir is below .",
    ]


def test_python_import_inside_of_a_function_counts(tmp_path):
    files = {
        "ir/module.py": "def script(self):\n    from ..tir import to_script\n\n    return to_script(self)\n"
    }
    assert python_tree(tmp_path, files) == [
        "python/tilewright/ir/module.py:2: imports tilewright.tir, but layer ir is below tir"
    ]


def test_python_modules_of_a_layer_import_each_other_in_no_circle(tmp_path):
    files = {
        "ir/a.py": "from .b import f\n",
        "ir/b.py": "from . import c\n",
        "ir/c.py": "def g():\n    from .a import h\n",
    }
    assert python_tree(tmp_path, files) == [
        "python/tilewright: a circle of imports: tilewright/ir/a.py -> tilewright/ir/b.py -> tilewright/ir/c.py -> tilewright/ir/a.py"
    ]


def test_python_module_in_no_layer_is_named(tmp_path):
    assert python_tree(tmp_path, {"magic.py": ""}) == [
        "python/tilewright/magic.py: tilewright.magic is not in python/layers.txt"
    ]


def test_python_layer_without_a_module_is_named(tmp_path):
    assert python_tree(tmp_path, {}, PYTHON_LAYERS + "te\n") == [
        "python/layers.txt: there is no tilewright.te"
    ]


def test_python_of_this_repository_passes():
    root = check_layers.Path(check_layers.__file__).resolve().parent.parent
    assert check_layers.check_python(root) == []
