"""The recipes of CONTRIBUTING.md with code, followed literally in a copy of the tree."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
FENCE = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def recipes() -> tuple[dict[str, str], list[str]]:
    """The files that the recipes write, and their commands."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = text[text.index("## Recipes") : text.index("## Rules that tools check")]
    files, commands = {}, []
    for language, name, content in FENCE.findall(section):
        if name:
            files[name] = content
        elif language == "sh":
            commands += content.splitlines()
    return files, commands


def commands_of(target: str) -> list[str]:
    """What ninja runs to make a target, the link last."""
    listed = subprocess.run(
        ["ninja", "-C", BUILD, "-t", "commands", target], capture_output=True, text=True, check=True
    )
    return [line for line in listed.stdout.splitlines() if line.strip()]


def run(command: str) -> None:
    done = subprocess.run(command, shell=True, cwd=BUILD, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"


def compiled(source: Path, like: str, commands: list[str]) -> Path:
    """The object of `source`, made as the one of the repository's file `like` is."""
    (command,) = [
        line for line in commands if line.endswith(f" -c {ROOT / like}") or f"/{like} " in f"{line} "
    ]
    made = re.search(r" -o (\S+)", command)[1]
    target = source.with_suffix(".o")
    command = command.replace(made, str(target)).replace(str(ROOT / like), str(source))
    run(f"{command} -I{(ROOT / like).parent}")
    return target


def table_with(name: str, folder: Path) -> Path:
    """The registry of the folder of `name` with `name` in it, as cmake/TilewrightLayer.cmake would generate it."""
    layer, registry, file = Path(name).parts[1:]
    text = (BUILD / "tilewright" / layer / "gen" / f"{registry}_table.cc").read_text()
    kind, other = re.search(r"extern const (\w+) (\w+)_info;", text).groups()
    stem = Path(file).stem
    text = text.replace(f"extern const {kind} {other}_info;", f"extern const {kind} {stem}_info;\n\\g", 1)
    text = text.replace("\\g", f"extern const {kind} {other}_info;")
    text = text.replace("nullptr};", f"&{stem}_info,\n    nullptr}};")
    text = re.sub(r"_count = (\d+);", lambda count: f"_count = {int(count[1]) + 1};", text)
    table = folder / f"{registry}_table.cc"
    table.write_text(text)
    return table


@pytest.mark.slow
@pytest.mark.skipif(not (BUILD / "bin/schedule_test").exists(), reason="the C++ tests are not built")
@pytest.mark.parametrize("name", [name for name in recipes()[0] if name.startswith("tilewright/")])
def test_recipe_builds_and_its_test_passes(name, tmp_path):
    """What ninja would run after the files were added, for these files alone."""
    files, commands = recipes()
    test = f"tests/{Path(name).parts[1]}/{Path(name).stem}_test.cc"
    suite = files[test].split("TEST(")[1].split(",")[0]
    (select,) = [line for line in commands if f"'{suite}." in line]
    program = select.split()[0].removeprefix("build/")
    made = commands_of(program)
    objects = []
    for file in (name, test):
        assert not (ROOT / file).exists(), f"{file} exists already"
        source = tmp_path / Path(file).name
        source.write_text(files[file])
        neighbours = sorted(
            other.name for other in (ROOT / file).parent.glob("*_test.cc" if file == test else "*.cc")
        )
        objects.append(compiled(source, f"{Path(file).parent}/{neighbours[0]}", made))
    table = table_with(name, tmp_path)
    like = f"{BUILD.name}/tilewright/{Path(name).parts[1]}/gen/{table.name}"
    objects.append(compiled(table, like, made))
    link = re.sub(rf" -o {program}", f" {' '.join(map(str, objects))} -o {tmp_path / 'program'}", made[-1])
    run(link)
    env = os.environ | {"LD_LIBRARY_PATH": str(BUILD / "lib")}
    done = subprocess.run(
        [tmp_path / "program", *shlex.split(select)[1:]],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    assert done.returncode == 0 and "PASSED" in done.stdout and " 0 tests" not in done.stdout, done.stdout


def test_there_are_three_recipes_with_code():
    files, commands = recipes()
    assert len(files) == 6
    assert len(commands) == 6
