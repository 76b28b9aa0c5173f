"""tvm_ffi.access_path: the way from a program to one of its parts, as script(path_to_underline=...) takes it."""


class AccessPath:
    """Steps of attributes and indices, made from AccessPath.root()."""

    def __init__(self, steps: tuple = ()):
        self._steps = steps

    @staticmethod
    def root() -> "AccessPath":
        """The program itself."""
        return AccessPath()

    def attr(self, name: str) -> "AccessPath":
        """The field `name` of what the path leads to."""
        return AccessPath((*self._steps, ("attr", name)))

    def array_item(self, index: int) -> "AccessPath":
        """The element `index` of a list."""
        return AccessPath((*self._steps, ("item", index)))

    def map_item(self, key) -> "AccessPath":
        """The value at `key` of a dictionary."""
        return AccessPath((*self._steps, ("item", key)))

    def follow(self, program):
        """The part of `program` at the end of the path; None if there is none."""
        part = program
        for kind, step in self._steps:
            try:
                part = getattr(part, step) if kind == "attr" else _item(part, step)
            except (AttributeError, IndexError, KeyError):
                return None
        return part

    def __eq__(self, other) -> bool:
        return isinstance(other, AccessPath) and self._steps == other._steps

    def __hash__(self) -> int:
        return hash(self._steps)

    def __str__(self) -> str:
        shown = (f".{step}" if kind == "attr" else f"[{step!r}]" for kind, step in self._steps)
        return "<root>" + "".join(shown)

    __repr__ = __str__


def _item(part, key):
    if hasattr(key, "name_hint"):
        return next(value for var, value in part.items() if var.name_hint == key.name_hint)
    return part[key]


class ObjectPath(AccessPath):
    """Its name in 2022."""

    attribute_access = AccessPath.attr
    array_index = AccessPath.array_item
    map_value = AccessPath.map_item
