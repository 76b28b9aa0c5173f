"""Walking over loop programs, and putting expressions for variables, from Python."""

from .. import _core


def _children(value):
    """The nodes directly below a node, a list or a dictionary."""
    if isinstance(value, _core.Object):
        return [getattr(value, name) for name in value.field_names if name != "span"]
    if isinstance(value, (list, tuple)):
        return list(value)
    return list(value.values()) if isinstance(value, dict) else []


def post_order_visit(node, visit) -> None:
    """Calls `visit` with every node below `node` and then with `node` itself; a shared node is visited once.

    >>> tilewright.tir.post_order_visit(mm["mm_relu"].body, print)
    """
    seen: dict = {}  # keeps what was seen alive, so that no other node takes its place

    def walk(value) -> None:
        if isinstance(value, _core.Object):
            if id(value) in seen:
                return
            seen[id(value)] = value
        for child in _children(value):
            walk(child)
        if isinstance(value, _core.Object):
            visit(value)

    walk(node)


def substitute(node, values: dict):
    """`node` with expressions put for variables; the same object if none occurs.

    values  {Var: expression or number}; variables that `node` defines itself are left alone
    """
    pairs = list(values.items())

    def replaced(value):
        for var, new in pairs:
            if isinstance(value, _core.Object) and value.same_as(var):
                return new if isinstance(new, _core.Object) else _core.const(new, var.dtype)
        if isinstance(value, _core.Object):
            changes = {}
            for name in value.field_names:
                if name != "span" and name not in ("loop_var", "var", "iter_vars"):
                    old = getattr(value, name)
                    new = replaced(old)
                    if new is not old:
                        changes[name] = new
            return value.replace(**changes) if changes else value
        if isinstance(value, (list, tuple)):
            items = [replaced(item) for item in value]
            same = all(a is b for a, b in zip(items, value, strict=True))
            return value if same else items
        return value

    return replaced(node)
