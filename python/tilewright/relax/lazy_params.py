"""Weights asked for and given back one by one, so that they never are in memory together."""

from .. import _core
from ..errors import UserError
from ..ir._nodes import classes
from ..ir.module import IRModule
from ..transform import Pass, PassInfo, run_watched
from .expr_functor import PyExprMutator

_Call, _ExternFunc, _Function = classes["relax.Call"], classes["relax.ExternFunc"], classes["relax.Function"]
_ObjectType, _PrimValue, _Tuple = classes["ir.ObjectType"], classes["relax.PrimValue"], classes["relax.Tuple"]
_TupleType = classes["ir.TupleType"]


def _number(value: int):
    return _PrimValue(_core.make_node("ir.IntImm", {"dtype": "int64", "value": value}))


class _Lazy(PyExprMutator):
    def __init__(self, mod, options: "LazyTransformParams"):
        super().__init__(mod)
        self.options = options
        self.types: list = []  # of the weights
        self.bundle = None  # the parameter that is the tuple of all, if there is one
        self.numbers: dict = {}  # parameter -> its number
        self.weights: dict = {}  # number -> the variable of what was asked for
        self.outputs: dict = {}  # variable -> the numbers of the results that it is

    def changed(self, func):
        """The function without parameters, which gives back an empty tuple."""
        params = list(func.params)
        if len(params) == 1 and isinstance(params[0].type, _TupleType):
            self.bundle, self.types = params[0], list(params[0].type.elements)
        else:
            self.numbers = {param: number for number, param in enumerate(params)}
            self.types = [param.type for param in params]
        results = self._results(func)
        for number, result in enumerate(results):
            self.outputs.setdefault(result, []).append(number)
        with self._scope(()) as end_scope:
            for block in func.body.blocks:
                self.visit_binding_block(block)
            bound = {binding.var for block in func.body.blocks for binding in block.bindings}
            for number, result in enumerate(results):
                if result not in bound:
                    self._give(number, self.visit_expr(result))
            body = end_scope(_Tuple([]))
        changed = _core.relax_with_body(func.replace(params=[], ret_type=None), [], body)
        return changed.replace(is_pure=False, type=None)

    def _results(self, func) -> list:
        values = {b.var: b.value for block in func.body.blocks for b in block.bindings}
        result = func.body.body
        while not isinstance(result, _Tuple) and result in values:
            result = values[result]
        if not isinstance(result, _Tuple):
            raise UserError("lazy_transform_params: the function gives no tuple of weights")
        return list(result.elements)

    def _packed(self, name: str, args: list):
        call = _Call(op=_ExternFunc(name), args=args, attrs={}, type_args=[_ObjectType()])
        return self.builder_.emit(call.replace(type=_ObjectType()))

    def _weight(self, number: int):
        if number not in self.weights:
            asked = self._packed(
                self.options.fget_item, [*self.options.extra_get_item_params, _number(number)]
            )
            self.weights[number] = self.builder_.match_cast(asked, self.types[number])
        return self.weights[number]

    def _give(self, number: int, value) -> None:
        self._packed(self.options.fset_item, [*self.options.extra_set_item_params, _number(number), value])

    def visit_var_(self, var):
        number = self.numbers.get(var)
        return super().visit_var_(var) if number is None else self._weight(number)

    def visit_tuple_getitem_(self, item):
        is_weight = self.bundle is not None and item.tuple.same_as(self.bundle)
        return self._weight(item.index) if is_weight else super().visit_tuple_getitem_(item)

    def visit_var_binding_(self, binding) -> None:
        if isinstance(binding.value, _Tuple) and binding.var not in self.outputs:
            return  # the tuple of the results, which are given one by one
        super().visit_var_binding_(binding)
        for number in self.outputs.get(binding.var, []):
            self._give(number, self.get_var_remap(binding.var))


class LazyTransformParams:
    """Functions NAME_transform_params ask for each weight when they need it, and give each result away at once.

        def main_transform_params(params):      def main_transform_params():
            lv = params[0]                          lv = R.call_packed("get_item", R.prim_value(0))
            lv1 = R.permute_dims(lv)         ->     lv1 = R.match_cast(lv, R.Tensor((7, 5), "float32"))
            return (lv1,)                           lv2 = R.permute_dims(lv1)
                                                    R.call_packed("set_item", R.prim_value(0), lv2)
                                                    return ()

    fget_item, fset_item          registered functions: (number) -> weight, (number, result); default get_item, set_item
    extra_get_item_params, extra_set_item_params  graph values that they get first; default none
    Raises                        UserError for a function that gives no tuple
    """

    def __init__(
        self,
        fget_item: str = "get_item",
        fset_item: str = "set_item",
        extra_get_item_params=None,
        extra_set_item_params=None,
    ):
        self.fget_item, self.fset_item = fget_item, fset_item
        self.extra_get_item_params = list(extra_get_item_params or ())
        self.extra_set_item_params = list(extra_set_item_params or ())

    def __call__(self, mod: IRModule) -> IRModule:
        """The module with lazy transforms; `mod` itself if it has none."""
        return run_watched(PassInfo(0, "lazy_transform_params"), mod, self._run)

    def _run(self, mod: IRModule) -> IRModule:
        result = mod
        for var, func in mod.functions.items():
            if isinstance(func, _Function) and var.name_hint.endswith("transform_params"):
                plain = Pass("to_non_dataflow", {})(IRModule({"main": func}))["main"]
                result = result.clone() if result is mod else result
                result[var] = _Lazy(mod, self).changed(plain)
        return result
