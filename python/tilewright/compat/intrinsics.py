"""tvm.ir.register_op_attr, register_intrin_lowering and what belongs to them: operators that programs name themselves."""

from tilewright import _core, tir
from tilewright.errors import UserError


class CallEffectKind:
    """What a call does besides giving its value, as register_op_attr(name, "TCallEffectKind", ...) takes it."""

    ExprAnnotation, Pure, ReadState, UpdateState, SpecialCallArg, EmbedInfo, ControlJump = range(7)
    Opaque = UpdateState


_EFFECT, _LOWERING = "TCallEffectKind", ".FLowerIntrinsic"
#: what is asked of no operator here: how it is printed and vectorized follows from its calls
_WITHOUT_EFFECT = ("TVectorizable", "TScriptPrinterName", "TScriptDtypePrintLocation")


def register_op_attr(op_name: str, attr_key: str, value=None, level: int = 10):
    """Says something about an operator; a decorator if `value` is left out.

    attr_key  "TCallEffectKind": `value` is a CallEffectKind, and the operator is made if there is none of this name;
              "opencl.FLowerIntrinsic": a rule as register_intrin_lowering takes it
    Raises UserError for other attributes
    """
    if value is None:
        return lambda function: register_op_attr(op_name, attr_key, function, level)
    if attr_key.endswith(_LOWERING):
        return register_intrin_lowering(op_name, attr_key[: -len(_LOWERING)], f=value, level=level)
    if attr_key == _EFFECT:
        is_pure = int(getattr(value, "value", value)) in (CallEffectKind.ExprAnnotation, CallEffectKind.Pure)
        if not _is_of_tilewright(op_name):
            _core.register_op(op_name, is_pure)
    elif attr_key not in _WITHOUT_EFFECT:
        raise UserError(
            f'register_op_attr: operators have no attribute "{attr_key}"\n'
            f'help: "{_EFFECT}" and "TARGET{_LOWERING}" can be registered'
        )
    return value


def _is_of_tilewright(op_name: str) -> bool:
    return op_name.removeprefix("tir.") in {name for name, *_ in _core.builtin_ops()}


def register_intrin_lowering(op_name: str, target: str, *, f=None, level: int = 10):
    """Says what calls of an operator are in code for a target; a decorator if `f` is left out.

    target  "opencl", "cuda", "metal", "llvm", "c"; "default": all, after their own rules
    f       f(call) returns an expression, or the call itself or None to leave it
    Returns f
    """
    if f is None:
        return lambda function: register_intrin_lowering(op_name, target, f=function, level=level)
    _declared(op_name)
    return tir.register_intrin_rule(op_name, target, f, level=level)


def register_intrin_rule(target: str, intrin: str, f=None, override: bool = False):
    """register_intrin_lowering as it was until 2020: names without "tir."."""
    if f is None:
        return lambda function: register_intrin_rule(target, intrin, function, override)
    return register_intrin_lowering(_full_name(intrin), target, f=f, level=11 if override else 10)


def _full_name(name) -> str:
    name = str(getattr(name, "name", name))
    return name if "." in name else f"tir.{name}"


def _declared(name: str, *, pure: bool = False) -> str:
    """`name`, of which an operator is made if there is none: register_op_attr may say later what it is."""
    if not _core.is_op(name):
        _core.register_op(name, pure)
    return name


def call_intrin(dtype, func_name, *args, attrs=None, span=None):
    """A call of an operator, which may be registered later: what it is must be known when code is generated."""
    return _core.call_op(dtype, _declared(_full_name(func_name)), list(args))


def call_pure_intrin(dtype, func_name, *args, span=None):
    """call_intrin of an operator without side effects."""
    return _core.call_op(dtype, _declared(_full_name(func_name), pure=True), list(args))


IR_NAMES = {"register_op_attr": register_op_attr, "register_intrin_lowering": register_intrin_lowering}
TIR_NAMES = {
    "CallEffectKind": CallEffectKind,
    "call_intrin": call_intrin,
    "call_pure_intrin": call_pure_intrin,
    "register_intrin_lowering": register_intrin_lowering,
}
#: of tvm and tvm.target until 2020
OLD_NAMES = {
    "call_intrin": call_intrin,
    "call_pure_intrin": call_pure_intrin,
    "call_pure_extern": tir.call_pure_extern,
    "register_intrin_rule": register_intrin_rule,
}
