"""The names of a module, which modules of TVM take over."""


def public_names(module) -> dict:
    """{name: value} of what `module` holds, without names that begin with two underscores."""
    return {name: value for name, value in vars(module).items() if not name.startswith("__")}
