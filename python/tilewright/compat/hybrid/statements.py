"""From the statements of a hybrid script to those of a loop program."""

import ast

from tilewright import tir
from tilewright.ir._nodes import classes

from .expressions import Array, Expressions, Scalar
from .functions import LOOPS


class Tracing(Expressions):
    """Reads a function once and makes its statements; names are looked up as Python does, without new scopes in loops."""

    def __init__(self, source, captured: dict):
        super().__init__(source, captured)
        self.results: list = []
        self._made: list = [[]]  # statements of the blocks around, the innermost last
        self._outputs: list = []

    def add_input(self, name: str, tensor):
        """The buffer of a tensor that the function reads."""
        buffer = tir.decl_buffer(list(tensor.shape), tensor.dtype, name)
        self.names[name] = Array(buffer, is_written=False)
        return buffer

    def add_value(self, name: str, value) -> None:
        """An argument that is no tensor: a number, an expression, a list of them."""
        self.names[name] = value

    def body(self):
        """The statement."""
        return self._joined(self._made[0])

    def run(self, statements) -> None:
        """Reads the statements of the function."""
        self._block(statements)
        for output in self._outputs:
            if not any(output is result for result in self.results):
                raise self.source.error(output.place, "this output_tensor is not returned")

    def _emit(self, statement) -> None:
        self._made[-1].append(statement)

    @staticmethod
    def _joined(made: list):
        """One statement; what comes after an allocation is inside of it."""
        joined: list = []
        for statement in reversed(made):
            if isinstance(statement, Array):
                inside = Tracing._sequence(joined)
                joined = [tir.AllocBuffer(buffer=statement.buffer, annotations={}, body=inside)]
            else:
                joined.insert(0, statement)
        return Tracing._sequence(joined)

    @staticmethod
    def _sequence(statements: list):
        if not statements:
            return tir.Evaluate(tir.const(0))
        flat = []
        for statement in statements:
            flat += list(statement.seq) if isinstance(statement, tir.SeqStmt) else [statement]
        return flat[0] if len(flat) == 1 else tir.SeqStmt(flat)

    def _inside(self, statements):
        self._made.append([])
        self._block(statements)
        return self._joined(self._made.pop())

    def _block(self, statements) -> None:
        for statement in statements:
            method = getattr(self, "_on_" + type(statement).__name__.lower(), None)
            if method is None:
                raise self.source.unsupported(
                    statement,
                    f"a hybrid script has no {type(statement).__name__} statement",
                    "for, if, assignments, return and assert of constants are read",
                )
            method(statement)

    def _on_pass(self, node) -> None:
        pass

    def _on_expr(self, node) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        raise self.source.error(node, "a value that is not used")

    def _on_assert(self, node) -> None:
        value = self.value(node.test)
        if not isinstance(value, bool):
            raise self.source.unsupported(node, "only constants can be asserted")
        if not value:
            message = self.value(node.msg) if node.msg else "the assertion does not hold"
            raise self.source.error(node, str(message))

    def _on_return(self, node) -> None:
        if len(self._made) > 1:
            raise self.source.error(node, "return inside of a loop or branch")
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        for each in values:
            value = self.value(each) if each is not None else None
            if not any(value is output for output in self._outputs):
                raise self.source.error(each or node, "only what output_tensor gave can be returned")
            self.results.append(value)

    def _on_assign(self, node) -> None:
        target = node.targets[0]
        if len(node.targets) > 1 or isinstance(target, ast.Tuple):
            raise self.source.unsupported(node, "an assignment has one target")
        if isinstance(target, ast.Name) and isinstance(node.value, ast.Call):
            made = self._new_array(target.id, node.value)
            if made is not None:
                self.names[target.id] = made
                return
        self._store(target, self.value(node.value))

    def _on_augassign(self, node) -> None:
        old = self.value(ast.copy_location(_loaded(node.target), node.target))
        value = self.binary(node, type(node.op), old, self.value(node.value))
        self._store(node.target, value)

    def _new_array(self, name: str, call):
        kind = call.func.id if isinstance(call.func, ast.Name) else ""
        if kind not in ("output_tensor", "allocate") or kind in self.names:
            return None
        args = [self.value(arg) for arg in call.args]
        named = {each.arg: self.value(each.value) for each in call.keywords}
        given = dict(zip(("shape", "dtype", "scope"), args, strict=False)) | named
        if "shape" not in given:
            raise self.source.error(call, f"{kind} needs a shape", f'as {kind}((4, 8), "float32")')
        shape = given["shape"] if isinstance(given["shape"], list | tuple) else [given["shape"]]
        shape = [tir.const(extent) if isinstance(extent, int) else extent for extent in shape]
        scope = {"shared": "shared", "local": "local"}.get(given.get("scope", "global"), "global")
        array = Array(tir.decl_buffer(shape, given.get("dtype", "float32"), name, scope), is_written=True)
        if kind == "output_tensor":
            if len(self._made) > 1:
                raise self.source.error(call, "output_tensor inside of a loop or branch")
            array.place = call
            self._outputs.append(array)
        else:
            self._emit(array)
        return array

    def _store(self, target, value) -> None:
        if isinstance(target, ast.Subscript):
            array = self.value(target.value)
            if not isinstance(array, Array) or not array.is_written:
                raise self.source.error(
                    target, "this is no tensor that can be written", "output_tensor and allocate give such"
                )
            indices = self.indices(target, array)
        elif isinstance(target, ast.Name):
            array, indices = self._scalar(target, value), [tir.const(0)]
        else:
            raise self.source.unsupported(target, "only elements and scalars can be assigned")
        if array is None:
            return
        converted = self.converted(target, value, array.buffer.dtype)
        self._emit(tir.BufferStore(buffer=array.buffer, value=converted, indices=indices))

    def _scalar(self, target, value):
        """The memory of a scalar; None for a number that is known and assigned once outside of loops."""
        known = self.names.get(target.id)
        if isinstance(known, Scalar):
            return known
        if isinstance(known, Array):
            raise self.source.error(target, f"{target.id} is a tensor; assign to its elements")
        if not isinstance(value, int | float | classes["PrimExpr"]):
            self.names[target.id] = value  # a shape, a dtype
            return None
        dtype = self.dtype_of(value)
        made = Scalar(tir.decl_buffer([tir.const(1)], dtype, target.id, "local"), is_written=True)
        self._emit(made)
        self.names[target.id] = made
        return made

    def _on_if(self, node) -> None:
        condition = self.value(node.test)
        if isinstance(condition, bool | int):
            self._block(node.body if condition else node.orelse)
            return
        then_case = self._inside(node.body)
        else_case = self._inside(node.orelse) if node.orelse else None
        self._emit(tir.IfThenElse(condition=condition, then_case=then_case, else_case=else_case))

    def _on_for(self, node) -> None:
        if node.orelse or not isinstance(node.target, ast.Name) or not isinstance(node.iter, ast.Call):
            raise self.source.unsupported(node.iter, "a loop runs over range(...) or one of its kinds")
        name = node.iter.func.id if isinstance(node.iter.func, ast.Name) else ""
        if name not in LOOPS:
            raise self.source.unsupported(
                node.iter,
                f"a loop cannot run over {ast.unparse(node.iter.func)}",
                f"loops are {', '.join(LOOPS)}",
            )
        args = [self.value(arg) for arg in node.iter.args]
        kind, tag = LOOPS[name], ""
        if kind == "thread_binding":
            if len(args) != 2 or not isinstance(args[0], str):
                raise self.source.error(
                    node.iter, "bind needs a thread axis and an extent", 'as bind("threadIdx.x", 64)'
                )
            tag, args = args[0], args[1:]
        if not 1 <= len(args) <= 2:
            raise self.source.error(node.iter, f"{name} takes an end, or a begin and an end")
        begin, end = (0, args[0]) if len(args) == 1 else args
        before = self.names.get(node.target.id)
        if kind == "const":
            self._repeat(node, begin, end)
        else:
            self._loop(node, (begin, end), kind, tag)
        if before is None:
            self.names.pop(node.target.id, None)
        else:
            self.names[node.target.id] = before

    def _repeat(self, node, begin, end) -> None:
        if not isinstance(begin, int) or not isinstance(end, int):
            raise self.source.error(node.iter, "const_range needs constants")
        for number in range(begin, end):
            self.names[node.target.id] = number
            self._emit(self._inside(node.body))

    def _loop(self, node, bounds, kind: str, tag: str) -> None:
        begin, end = bounds
        extent = end - begin if not (isinstance(begin, int) and begin == 0) else end
        extent = tir.const(extent) if isinstance(extent, int) else extent
        var = tir.Var(node.target.id, extent.dtype)
        self.names[node.target.id] = var if isinstance(begin, int) and begin == 0 else var + begin
        body = self._inside(node.body)
        self._emit(
            tir.For(
                min=tir.const(0, extent.dtype),
                extent=extent,
                loop_var=var,
                for_kind=kind,
                thread_tag=tag,
                annotations={},
                body=body,
            )
        )


def _loaded(target):
    copy = ast.parse(ast.unparse(target), mode="eval").body
    for node in ast.walk(copy):
        if hasattr(node, "lineno"):
            ast.copy_location(node, target)
    return copy
