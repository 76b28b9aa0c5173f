"""Python classes of all IR nodes, made from the field tables of the C++ structs.

A class gets a read-only property for each field, a constructor that takes the fields as keywords, and the methods that
`methods_for` gives it (nanobind classes have one base, so methods are copied instead of inherited from mix-ins).
"""

import inspect

from .. import _core
from .._guard import guard
from ..errors import ArgumentError

#: class by full kind name ("tir.For") and by group name ("Stmt")
classes: dict[str, type] = {}


def _property(index: int, name: str, doc: str) -> property:
    return property(lambda self: _core.get_field(self, index), doc=doc)


def _constructor(kind: str, field_names: list[str]):
    def new(cls, *args, **kwargs):
        if len(args) > len(field_names):
            raise TypeError(f"{kind} has {len(field_names)} fields, but {len(args)} values are given")
        values = dict(zip(field_names, args, strict=False))
        for name, value in kwargs.items():
            if name not in field_names:
                raise TypeError(f'{kind} has no field "{name}"; its fields are {", ".join(field_names)}')
            values[name] = value
        return _core.make_node(kind, values)

    # messages show the fields
    parameters = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ["cls", *field_names]
    ]
    new.__signature__ = inspect.Signature(parameters)
    return guard(f"tilewright.{kind}", new)


def _no_constructor(group: str):
    """The __new__ of a base class of several kinds of nodes: it refuses, as an object of it would have no node."""

    def new(cls, *args, **kwargs):
        kinds = [kind for kind, _, _ in _core.node_table() if issubclass(classes[kind], classes[group])]
        names = ", ".join(kinds[:6]) + (", ..." if len(kinds) > 6 else "")
        raise ArgumentError(f"{group} is a group of nodes, not one of them\nhelp: make one of {names}")

    return new


def methods_for(*names: str):
    """A decorator: copies the members of the decorated class into the node or group classes `names`."""

    def copy(source: type) -> type:
        for name in names:
            for key, value in vars(source).items():
                if key not in ("__dict__", "__weakref__", "__module__", "__qualname__"):
                    setattr(classes[name], key, value)
        return source

    return copy


def _restored(json: str):
    """A node that pickle has brought."""
    return _core.load_json(json)


def _common(node_class: type) -> None:
    """Adds the methods that every node has."""

    def same_as(self, other) -> bool:
        """True if `other` is the very same node."""
        return _core.same_as(self, other)

    def replace(self, **fields):
        """A copy of this node with the given fields changed."""
        return _core.with_fields(self, fields)

    node_class.same_as = guard("tilewright.ir.Object.same_as", same_as)
    node_class.replace = guard("tilewright.ir.Object.replace", replace)
    node_class.__repr__ = lambda self: _core.repr(self)
    node_class.__init__ = lambda self, *args, **kwargs: None
    node_class.__reduce__ = lambda self: (_restored, (_core.save_json(self),))
    # nodes do not change, and what is found again by identity, as variables are, must stay what it is
    node_class.__copy__ = lambda self: self
    node_class.__deepcopy__ = lambda self, memo: self


def _make_classes() -> None:
    _common(_core.Object)
    groups = dict(_core.group_table())

    def group(name: str) -> type:
        if not name:
            return _core.Object
        if name not in classes:
            members = {"__slots__": (), "__module__": "tilewright.ir", "__new__": _no_constructor(name)}
            classes[name] = type(name, (group(groups[name]),), members)
        return classes[name]

    for name in groups:
        group(name)
    for kind, base, fields in _core.node_table():
        layer, short = kind.split(".")
        members = {
            "__slots__": (),
            "__module__": f"tilewright.{layer}",
            "__doc__": f"{short}({', '.join(name for name, _ in fields)})\n\n"
            + "\n".join(f"{name}: {doc}" for name, doc in fields),
            "__new__": _constructor(kind, [name for name, _ in fields]),
            "field_names": tuple(name for name, _ in fields),
        }
        for index, (name, doc) in enumerate(fields):
            members[name] = _property(index, name, doc)
        # a variable that is visible only inside of a dataflow block is a variable all the same
        parent = classes["relax.Var"] if kind == "relax.DataflowVar" else group(base)
        classes[kind] = type(short, (parent,), members)
        _core.register_node_class(kind, classes[kind])


_make_classes()
