"""The recipes of CONTRIBUTING.md, followed to the letter: their files are compiled and linked as ninja would after they were added,
and their commands run, with what they built in another folder.  Nothing is written into the tree."""

import concurrent.futures
import dataclasses
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
FENCE = re.compile(r"^```(\w+)(?: file=(\S+))?(?: after=(.+?))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: what can be added: the files that are written, those that get a line, the tests
COUNTS = {
    "A schedule primitive": (1, 0, 1),
    "A graph operator": (1, 0, 1),
    "A graph pass": (1, 0, 1),
    "A step of lowering": (1, 1, 1),  # where order is knowledge, one file says it
    "A target": (1, 0, 1),
    "An ONNX converter": (1, 0, 1),
    "A command": (1, 0, 1),
}
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
SECTION = PAGE[PAGE.index("## Recipes") : PAGE.index("## A change that must change nothing")]


@dataclasses.dataclass
class Recipe:
    """What one section says: new files by path, lines by the path and the line that they come after, commands."""

    files: dict[str, str]
    lines: dict[str, tuple[str, str]]
    commands: list[str]

    @property
    def added(self) -> str:
        return next(name for name in self.files if name.startswith("tilewright/"))

    @property
    def test(self) -> str:
        return next(name for name in self.files if name.startswith("tests/"))

    @property
    def stem(self) -> str:
        return Path(self.added).stem


def recipes() -> dict[str, Recipe]:
    found = {}
    for section in SECTION.split("\n### ")[1:]:
        title, _, text = section.partition("\n")
        if title == "A statement of loop programs":  # test_statements.py follows it
            continue
        recipe = found[title] = Recipe({}, {}, [])
        for language, name, after, content in FENCE.findall(text):
            if after:
                recipe.lines[name] = (after, content)
            elif name:
                recipe.files[name] = content
            elif language == "sh":
                recipe.commands += content.splitlines()
    return found


RECIPES = recipes()


# ---- what ninja would do


def commands_of(target: str) -> list[str]:
    """What ninja runs to make a target, the link last."""
    listed = subprocess.run(
        ["ninja", "-C", BUILD, "-t", "commands", target], capture_output=True, text=True, check=True
    )
    return [line for line in listed.stdout.splitlines() if line.strip()]


def run(command: str) -> None:
    done = subprocess.run(command, shell=True, cwd=BUILD, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"


@dataclasses.dataclass
class Unit:
    """A source to compile as the file `like` of the tree is."""

    source: Path
    like: str
    replaces: bool  # the object of `like`, instead of being one more

    def compiled(self, commands: list[str]) -> tuple[str, Path]:
        """The object of `like`, as ninja names it, and ours."""
        (command,) = [line for line in commands if line.endswith(f" -c {ROOT / self.like}")]
        theirs = re.search(r" -o (\S+)", command)[1]
        ours = self.source.with_suffix(".o")
        command = command.replace(theirs, str(ours)).replace(str(ROOT / self.like), str(self.source))
        run(f"{command} -I{(ROOT / self.like).parent}")
        return theirs, ours


def neighbour(name: str) -> str:
    """The first file of the folder of a new file; of a test, the first of its layer."""
    if name.startswith("tests/"):
        folder = ROOT.joinpath(*Path(name).parts[:2])
        return str(sorted(folder.glob("*_test.cc"))[0].relative_to(ROOT))
    return str(sorted((ROOT / name).parent.glob("*.cc"))[0].relative_to(ROOT))


def table_with(name: str, folder: Path) -> Unit:
    """The registry of the folder of `name` with `name` in it, as cmake/TilewrightLayer.cmake would generate it."""
    _, layer, *rooms, _ = Path(name).parts
    like = f"{BUILD.name}/tilewright/{layer}/gen/{'_'.join(rooms)}_table.cc"
    text = (ROOT / like).read_text()
    kind, other = re.search(r"extern const (\w+) (\w+)_info;", text).groups()
    stem, first = Path(name).stem, f"extern const {kind} {other}_info;"
    text = text.replace(first, f"extern const {kind} {stem}_info;\n{first}", 1)
    text = text.replace("nullptr};", f"&{stem}_info,\n    nullptr}};")
    text = re.sub(r"_count = (\d+);", lambda count: f"_count = {int(count[1]) + 1};", text)
    table = folder / Path(like).name
    table.write_text(text)
    return Unit(table, like, True)


def units_of(recipe: Recipe, folder: Path) -> list[Unit]:
    """All that has to be compiled when the files of the recipe were written, but for its test."""
    for name in recipe.files:
        assert not (ROOT / name).exists(), f"{name} exists already"
    source = folder / Path(recipe.added).name
    source.write_text(recipe.files[recipe.added])
    units = [Unit(source, neighbour(recipe.added), False), table_with(recipe.added, folder)]
    for name, (after, content) in recipe.lines.items():
        lines = (ROOT / name).read_text().splitlines(keepends=True)
        (place,) = [n for n, line in enumerate(lines) if line.strip() == after]
        changed = folder / Path(name).name
        changed.write_text("".join([*lines[: place + 1], content, *lines[place + 1 :]]))
        units.append(Unit(changed, name, True))
    return units


def linked(link: str, made: str, target: Path, objects: list[tuple[Unit, str, Path]]) -> None:
    """What ninja's command `link` makes as `made`, with our objects, as `target`."""
    more = []
    for unit, theirs, ours in objects:
        if unit.replaces and f" {theirs} " in link:
            link = link.replace(f" {theirs} ", f" {ours} ")
        else:
            more.append(str(ours))  # before the archive, whose own object is then not taken
    run(link.replace(f" -o {made}", f" {' '.join(more)} -o {target}"))


@dataclasses.dataclass
class Followed:
    """The objects of all recipes, and a library and a program with all of them."""

    folder: Path
    objects: dict[str, list[tuple[Unit, str, Path]]]

    def environment(self) -> dict:
        paths = {
            "LD_LIBRARY_PATH": f"{self.folder}:{BUILD / 'lib'}",
            "PATH": f"{self.folder}:{os.environ['PATH']}",
            "PYTHONPATH": f"{BUILD / 'python'}:{ROOT / 'tests'}",
        }
        return os.environ | paths | {"TILEWRIGHT_CACHE_MB": "0"}

    def run(self, *words) -> str:
        """The output of a command with this library and program; fails if it does."""
        done = subprocess.run(
            words, capture_output=True, text=True, env=self.environment(), cwd=ROOT, check=False
        )
        assert done.returncode == 0, f"{words}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done.stdout


@pytest.fixture(scope="module")
def followed() -> Followed:
    """All recipes compiled, and linked into one library and one program."""
    if not (BUILD / "bin/schedule_test").exists():
        pytest.skip("the C++ tests are not built")
    # the same each time, by which ccache knows the files; of each process of pytest-xdist another
    folder = BUILD / "recipes" / os.environ.get("PYTEST_XDIST_WORKER", "alone")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    made = commands_of("bin/tilewright")
    followed = Followed(folder, {})
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        waiting = {}
        for title, recipe in RECIPES.items():
            (folder / recipe.stem).mkdir()
            units = units_of(recipe, folder / recipe.stem)
            waiting[title] = [(unit, pool.submit(unit.compiled, made)) for unit in units]
        for title, units in waiting.items():
            followed.objects[title] = [(unit, *done.result()) for unit, done in units]
    of_command = followed.objects["A command"]
    of_library = [each for title, all_ in followed.objects.items() if title != "A command" for each in all_]
    (link,) = [line for line in made if " -o lib/libtilewright.so " in line]
    linked(link, "lib/libtilewright.so", folder / "libtilewright.so", of_library)
    linked(made[-1], "bin/tilewright", folder / "tilewright", of_command)
    return followed


# ---- the tests


def test_each_addition_is_a_file_and_its_test():
    found = {
        title: (
            sum(name.startswith("tilewright/") for name in recipe.files),
            len(recipe.lines),
            sum(name.startswith("tests/") for name in recipe.files),
        )
        for title, recipe in RECIPES.items()
    }
    assert found == COUNTS


def test_the_table_of_additions_names_these_files():
    rows = re.findall(r"^\| \[(.*?)\]\(#(.*?)\) \| (.*?) \| `(.*?)` \|$", SECTION, re.MULTILINE)
    assert [(name[0].upper() + name[1:], link) for name, link, _, _ in rows] == [
        (title, title.lower().replace(" ", "-")) for title in RECIPES
    ]
    for (_, _, file, test), recipe in zip(rows, RECIPES.values(), strict=True):
        files = [name.replace("NAME", recipe.stem) for name in re.findall(r"`(.*?)`", file)]
        assert files == [recipe.added, *recipe.lines]
        assert test.replace("NAME", recipe.stem) == recipe.test


@pytest.mark.slow
@pytest.mark.parametrize("title", [title for title in RECIPES if RECIPES[title].test.endswith(".cc")])
def test_its_test_in_cpp_passes(title, followed, tmp_path):
    recipe = RECIPES[title]
    build, select = recipe.commands
    program = f"bin/{build.split()[-1]}"
    source = followed.folder / recipe.stem / Path(recipe.test).name
    source.write_text(recipe.files[recipe.test])
    made = commands_of(program)
    test = Unit(source, neighbour(recipe.test), False)
    linked(made[-1], program, tmp_path / "program", [*followed.objects[title], (test, *test.compiled(made))])
    path, *options = shlex.split(select)
    assert path == f"build/{program}"
    done = followed.run(tmp_path / "program", *options)
    assert "PASSED" in done and " 0 tests" not in done


@pytest.mark.slow
@pytest.mark.parametrize("title", [title for title in RECIPES if RECIPES[title].test.endswith(".py")])
def test_its_test_in_python_passes(title, followed, tmp_path):
    recipe = RECIPES[title]
    assert recipe.commands[1].endswith(f".venv/bin/python -m pytest {recipe.test}")
    for name in ("pyproject.toml", f"tests/{Path(recipe.test).parts[1]}/conftest.py"):
        if (ROOT / name).exists():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    file = tmp_path / recipe.test
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(recipe.files[recipe.test])
    done = followed.run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file)
    assert re.search(r"^[1-9]\d* passed", done, re.MULTILINE), done


@pytest.mark.slow
def test_python_and_scripts_have_what_was_added(followed):
    done = followed.run(
        sys.executable,
        "-c",
        """
import tilewright
from tilewright import relax, script

text = '''
@R.function
def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
    y: R.Tensor((2,), "float32") = R.cube(x)
    return y
'''
assert "R.cube(x)" in script.parse(text).script()
print(relax.op.cube.__doc__, relax.transform.drop_notes.__doc__, tilewright.Schedule.note.__doc__)
""",
    )
    assert "x * x * x" in done and "attribute note" in done and "Keeps a remark" in done


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "shown"),
    [
        (
            "doc_lists.py",
            (
                "| `targets` | list what",
                "| `drop_loop_notes` | x | x |",
                "my.domain::ScaledTanh",
                "| `cube(x)` | x * x * x |",
            ),
        ),
        ("doc_lists.py", ("| `drop_notes()` | Attribute note",)),
        ("primitive_docs.py", ("## note\n",)),
    ],
)
def test_docs_list_what_was_added(tool, shown, followed):
    made = followed.run(sys.executable, f"tools/{tool}", "--print")
    for text in shown:
        assert text in made
