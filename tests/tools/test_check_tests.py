"""tools/check_tests.py: files of registries have tests of their names."""

import check_tests
import pytest

CMAKE = "tilewright_layer(relax)\ntilewright_registry(relax passes PassInfo tilewright/relax/pass.h)\n"


@pytest.fixture
def tree(tmp_path):
    """A function that writes files into a tree with a registry tilewright/relax/passes and gives the root."""

    def write(*names, listed=()):
        files = dict.fromkeys(names, "") | {"tilewright/relax/CMakeLists.txt": CMAKE}
        if listed:
            files["tools/untested_files.txt"] = "# comment\n" + "".join(f"{name}\n" for name in listed)
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return tmp_path

    return write


@pytest.mark.parametrize(
    "test",
    [
        "tests/relax/passes/fold_test.cc",
        "tests/relax/passes/test_fold.py",
        "tests/relax/fold_test.cc",
        "tests/relax/test_fold.py",
    ],
)
def test_a_test_of_the_name_is_found_in_the_folder_and_above(tree, test):
    assert check_tests.check(tree("tilewright/relax/passes/fold.cc", test)) == []


@pytest.mark.parametrize(
    "test", ["tests/test_fold.py", "tests/relax/ops/test_fold.py", "tests/relax/test_folds.py"]
)
def test_a_test_elsewhere_or_of_another_name_does_not_count(tree, test):
    assert check_tests.check(tree("tilewright/relax/passes/fold.cc", test)) == [
        "tilewright/relax/passes/fold.cc: no test has its name; write tests/relax/passes/test_fold.py or fold_test.cc there"
    ]


def test_files_outside_of_registries_need_none(tree):
    root = tree(
        "tilewright/relax/helper.cc", "tilewright/relax/passes/helper.h", "tilewright/relax/passes/deep/x.cc"
    )
    assert check_tests.check(root) == []


def test_listed_files_need_none(tree):
    name = "tilewright/relax/passes/fold.cc"
    assert check_tests.check(tree(name, listed=[name])) == []


def test_the_list_may_only_shrink(tree):
    tested, gone, untested = (f"tilewright/relax/passes/{name}.cc" for name in ("fold", "gone", "untested"))
    root = tree(tested, untested, "tests/relax/test_fold.py", listed=[tested, gone, untested])
    assert check_tests.check(root) == [
        f"tools/untested_files.txt: has a test or is gone, take it off (--shrink): {name}"
        for name in (tested, gone)
    ]
    check_tests.shrink(root)
    assert check_tests.read_list(root) == [untested]
    assert check_tests.check(root) == []


def test_registries_in_folders_of_a_layer(tree):
    root = tree("tilewright/relax/gradient/rules/unary.cc", "tests/relax/gradient/test_unary.py")
    (root / "tilewright/relax/CMakeLists.txt").write_text(
        "tilewright_registry(relax gradient/rules GradientTable tilewright/relax/gradient.h)\n"
    )
    assert [str(folder) for folder in check_tests.registries(root)] == ["tilewright/relax/gradient/rules"]
    assert check_tests.check(root) == []


def test_the_repository_has_registries_of_every_kind():
    root = check_tests.Path(check_tests.__file__).resolve().parent.parent
    found = {str(folder.relative_to("tilewright")) for folder in check_tests.registries(root)}
    assert {"schedule/primitives", "relax/passes", "relax/ops", "target/kinds"} <= found
