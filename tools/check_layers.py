"""Checks that C++ includes only point downwards.

A file of layer L may include headers of L and of the layers before it in tilewright/layers.txt.  If the list names the rooms of
a layer (its folders, and "." for files outside of them), the same rule holds among them.  Heavy libraries are restricted to one
place: LLVM to codegen/llvm, Python and nanobind to python.  Files elsewhere that use codegen/llvm have llvm in their names: builds
without LLVM leave them out.  Prints one line per violation; exit code 1 if there are any.
"""

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


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    problems = check(root)
    print("\n".join(problems) if problems else "layers: every include points downwards")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
