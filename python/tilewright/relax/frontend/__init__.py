"""Networks as Python classes (nn).  TVM's programs spell it relax.frontend.nn; readers of model files are in tilewright.frontend."""

from ...ir.module import IRModule


def detach_params(mod: IRModule) -> tuple[IRModule, dict]:
    """A module whose functions lack the attribute "params", and {name of the function: list of those tensors}."""
    params, functions = {}, {}
    for var, func in mod.functions.items():
        if "params" in func.attrs:
            params[var.name_hint] = [_as_tensor(value) for value in func.attrs["params"]]
            func = func.without_attr("params")
        functions[var.name_hint] = func
    return (IRModule(functions, mod.attrs, mod.global_infos), params) if params else (mod, {})


def _as_tensor(value):
    return value.data if hasattr(value, "data") else value


def __getattr__(name: str):
    if name == "nn":
        import importlib

        return importlib.import_module(".nn", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
