"""Checks that includes of C++ and imports of Python only point downwards.

A file of layer L may include headers of L and of the layers before it in tilewright/layers.txt.  If the list names the rooms of
a layer (its folders, and "." for files outside of them), the same rule holds among them.  Heavy libraries are restricted to one
place: LLVM to codegen/llvm, Python and nanobind to python.  Files elsewhere that use codegen/llvm have llvm in their names: builds
without LLVM leave them out.

A file of python/tilewright may import files of its line of python/layers.txt and of the lines before it, inside of functions too;
the files of one line form no import circle.  Importing a.b also runs a/__init__.py, which is not counted: a package gathers the
names of its modules.  importlib.import_module, which loads names on demand, is not counted either.

Prints one line per violation; exit code 1 if there are any.
"""

import ast
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
# library -> (header pattern, the only folder that may include it)
CONFINED = {
    "LLVM": (re.compile(r"^(llvm|llvm-c|lld)/"), "codegen/llvm"),
    "Python": (re.compile(r"^(nanobind/|Python\.h$)"), "python"),
    "the command-line parser": (re.compile(r"^CLI/"), "cli"),
}


def read_layers(root: Path) -> dict[str, list[str]]:
    """The layers in tilewright/layers.txt, bottom to top, each with its rooms (the indented lines after it)."""
    layers: dict[str, list[str]] = {}
    for line in (root / "tilewright" / "layers.txt").read_text().splitlines():
        name = line.partition("#")[0].rstrip()
        if name.startswith(" "):
            layers[list(layers)[-1]].append(name.strip())
        elif name:
            layers[name] = []
    return layers


def room_of(path: str, rooms: list[str]) -> str:
    """The room of a file: the longest of `rooms` whose folder contains it, "." if it is in the folder of the layer."""
    inner = "/".join(path.split("/")[1:-1])
    found = [room for room in rooms if inner == room or inner.startswith(room + "/")]
    return max(found, key=len) if found else inner or "."


def check_rooms(header: str, path: str, rooms: list[str]) -> str:
    """'' if file `path` may include `header` of the same layer, else the reason it may not."""
    ours, theirs = room_of(path, rooms), room_of(header, rooms)
    if ours not in rooms or theirs not in rooms or rooms.index(theirs) <= rooms.index(ours):
        return ""
    return f"room {ours} is below {theirs}"


def check_include(header: str, layer: str, folder: str, file: str, layers: dict[str, list[str]]) -> str:
    """'' if `file` of `layer`, which lies in tilewright/`folder`, may include `header`, else the reason it may not."""
    for library, (pattern, home) in CONFINED.items():
        if pattern.search(header) and not (folder == home or folder.startswith(home + "/")):
            return f"{library} headers may be included only below tilewright/{home}"
    if not header.startswith("tilewright/"):
        return ""
    if header.startswith("tilewright/codegen/llvm/") and not ("llvm" in file or folder == "codegen/llvm"):
        return "builds without LLVM have only files that do without it; those that do not have llvm in their names"
    target = header.split("/")[1]
    if target not in layers:
        # headers of the whole library, such as tilewright/c_api.h, are for its users
        return "" if target.endswith(".h") else f"there is no layer {target} in tilewright/layers.txt"
    order = list(layers)
    if order.index(target) > order.index(layer):
        return f"layer {layer} is below {target}"
    if target == layer and layers[layer]:
        return check_rooms(header.removeprefix("tilewright/"), f"{folder}/{file}", layers[layer])
    return ""


def check(root: Path) -> list[str]:
    """One line per violation below `root`/tilewright."""
    layers = read_layers(root)
    problems = []
    for file in sorted((root / "tilewright").rglob("*")):
        if file.suffix not in (".h", ".cc", ".inc", ".c"):
            continue
        parts = file.relative_to(root / "tilewright").parts
        if len(parts) < 2:
            continue
        layer, folder = parts[0], "/".join(parts[:-1])
        if layer not in layers:
            problems.append(f"{file.relative_to(root)}: folder {layer} is not in tilewright/layers.txt")
            continue
        if layers[layer] and (room := room_of("/".join(parts), layers[layer])) not in layers[layer]:
            problems.append(
                f"{file.relative_to(root)}: room {room} of {layer} is not in tilewright/layers.txt"
            )
            continue
        text = file.read_text()
        for match in INCLUDE.finditer(text):
            reason = check_include(match[1], layer, folder, file.name, layers)
            if reason:
                line = text.count("\n", 0, match.start(1)) + 1
                problems.append(f"{file.relative_to(root)}:{line}: includes {match[1]}, but {reason}")
    return problems


def read_python_layers(root: Path) -> list[str]:
    """The modules in python/layers.txt, bottom to top; none if there is no such file."""
    file = root / "python" / "layers.txt"
    lines = file.read_text().splitlines() if file.exists() else []
    return [name for line in lines if (name := line.partition("#")[0].strip())]


def python_modules(package: Path) -> dict[str, Path]:
    """{module: file}, without the name of the package; the file of a package a.b is a.b.__init__, of all of it "."."""
    files = {
        ".".join(file.relative_to(package).with_suffix("").parts): file
        for file in sorted(package.rglob("*.py"))
    }
    return {"." if name == "__init__" else name: file for name, file in files.items()}


def python_layer_of(module: str, layers: list[str]) -> str:
    """The longest of `layers` that is `module` or a package around it; "" if there is none."""
    found = [layer for layer in layers if module == layer or module.startswith(layer + ".")]
    return max(found, key=len, default="")


def imports_of(module: str, text: str, modules: dict[str, Path], package: str) -> list[tuple[str, int]]:
    """(module of `modules`, line) for each import in a file, inside of functions too; others than of `package` are left out."""

    def known(name: str) -> str | None:
        candidates = (name, f"{name}.__init__" if name else ".")
        return next((each for each in candidates if each in modules), None)

    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            found += [(known(".".join(name[1:])), node.lineno) for name in names if name[0] == package]
        elif isinstance(node, ast.ImportFrom):
            base = node.module.split(".") if node.module else []
            if node.level:
                base = [*([] if module == "." else module.split(".")[: -node.level]), *base]
            elif base[:1] == [package]:
                base = base[1:]
            else:
                continue
            for alias in node.names:
                if alias.name != "_core":  # of C++, below all of this
                    name = ".".join([*base, alias.name])
                    found.append((known(name) or known(".".join(base)), node.lineno))
    return [(name, line) for name, line in found if name and name != module]


def circle_in(graph: dict[str, list[str]]) -> list[str]:
    """Modules that import each other, the first one again at the end; [] if there is no circle."""
    done: set[str] = set()

    def visit(module: str, path: list[str]) -> list[str]:
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        for other in graph[module]:
            if circle := visit(other, [*path, module]):
                return circle
        done.add(module)
        return []

    return next((circle for module in graph if (circle := visit(module, []))), [])


def shown_module(module: str, package: str) -> str:
    """The name by which programs import a module."""
    return package if module == "." else f"{package}.{module.removesuffix('.__init__')}"


def check_python(root: Path, package: str = "tilewright") -> list[str]:
    """One line per violation below `root`/python/`package`."""
    layers, modules = read_python_layers(root), python_modules(root / "python" / package)
    problems, graph = [], {}
    for layer in layers:
        if not any(python_layer_of(module, [layer]) for module in modules):
            problems.append(f"python/layers.txt: there is no {package}.{layer}")
    for module, file in modules.items():
        layer, where = python_layer_of(module, layers), file.relative_to(root)
        graph[module] = []
        if not layer:
            problems.append(f"{where}: {shown_module(module, package)} is not in python/layers.txt")
            continue
        for other, line in imports_of(module, file.read_text(), modules, package):
            above = python_layer_of(other, layers)
            if above == layer:
                graph[module].append(other)
            elif above and layers.index(above) > layers.index(layer):
                problems.append(
                    f"{where}:{line}: imports {shown_module(other, package)}, but layer {layer} is below {above}"
                )
    if circle := circle_in(graph):
        shown = " -> ".join(str(modules[module].relative_to(root / "python")) for module in circle)
        problems.append(f"python/{package}: a circle of imports: {shown}")
    return problems


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    problems = check(root) + check_python(root)
    print("\n".join(problems) if problems else "layers: every include and import points downwards")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
