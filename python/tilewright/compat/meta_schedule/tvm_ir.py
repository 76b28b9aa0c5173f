"""Loop programs in the JSON of apache-tvm 0.27: {"root_index": place, "nodes": [{"type": name, "data": fields}]}.

A field is the place of another node; numbers of enumerations and alignments stand in the fields themselves.
"""

from tilewright import tir
from tilewright.errors import Unsupported, UserError
from tilewright.ir._nodes import classes
from tilewright.ir.module import IRModule

from .. import nodes as faces
from ..constructors import make_block, make_iter_var
from ..nodes import make_for, make_prim_func

_BINARY = (
    *("Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min", "Max"),
    *("EQ", "NE", "LT", "LE", "GT", "GE", "And", "Or"),
)


class Reader:
    """Reads the nodes of one file."""

    def __init__(self, graph: dict):
        self._nodes, self._made, self._buffers = graph["nodes"], {}, {}

    def at(self, place: int):
        """The node at a place, as ours."""
        if place not in self._made:
            node = self._nodes[place]
            self._made[place] = self._read(node["type"], node.get("data"), place)
        return self._made[place]

    def _read(self, kind: str, data, place: int):
        if kind in ("None", "int", "bool", "float", "ffi.String", "ffi.SmallStr"):
            return data
        if kind == "ffi.Array":
            return [self.at(each) for each in data]
        if kind == "ffi.Map":
            return {self.at(key): self.at(value) for key, value in zip(data[::2], data[1::2], strict=True)}
        if kind == "ir.Op":
            return classes["ir.Op"](data.replace("tirx.", "tir."))
        name = kind.rpartition(".")[2]
        if name in _BINARY:
            return getattr(tir, name)(a=self.at(data["a"]), b=self.at(data["b"]))
        read = getattr(self, f"_{name}", None)
        if read is None:
            raise Unsupported(f"nodes of kind {kind} in TVM's JSON are not read")
        return read(data, place) if name == "Var" else read(data)

    def _dtype(self, place: int) -> str:
        return self._nodes[place]["data"]["dtype"]

    # ------------------------------------------------------------ expressions

    def _IntImm(self, data):
        return tir.const(self.at(data["value"]), self._dtype(data["ty"]))

    def _FloatImm(self, data):
        return tir.const(float(data["value"]), self._dtype(data["ty"]))

    def _StringImm(self, data):
        return tir.StringImm(self.at(data["value"]))

    def _Var(self, data, place: int):
        # a variable whose type is that of a buffer is the buffer
        name, kind = self.at(data["name"]), self._nodes[data["ty"]]
        if kind["type"].rpartition(".")[2] == "BufferType":
            return self._buffer(name, kind["data"])
        return tir.Var(name, kind["data"]["dtype"])

    def _buffer(self, name: str, data: dict):
        return faces.make_buffer(
            self.at(data["shape"]),
            self._dtype(data["dtype"]),
            name,
            strides=self.at(data["strides"]) or None,
            scope=self.at(data["storage_scope"]),
            data_alignment=data["data_alignment"],
            offset_factor=data["offset_factor"] if data["offset_factor"] > 1 else 0,
        )

    def _Cast(self, data):
        return tir.Cast(dtype=self._dtype(data["ty"]), value=self.at(data["value"]))

    def _Not(self, data):
        return tir.Not(self.at(data["a"]))

    def _Select(self, data):
        return tir.Select(*(self.at(data[name]) for name in ("condition", "true_value", "false_value")))

    def _Call(self, data):
        return tir.Call(dtype=self._dtype(data["ty"]), op=self.at(data["op"]), args=self.at(data["args"]))

    def _TensorLoad(self, data):
        return tir.BufferLoad(self.at(data["source"]), self.at(data["indices"]))

    def _Range(self, data):
        return classes["ir.Range"](self.at(data["min"]), self.at(data["extent"]))

    def _TensorRegion(self, data):
        return classes["tir.BufferRegion"](self.at(data["source"]), self.at(data["region"]))

    # ------------------------------------------------------------ statements

    def _BufferStore(self, data):
        return tir.BufferStore(self.at(data["buffer"]), self.at(data["value"]), self.at(data["indices"]))

    def _SeqStmt(self, data):
        return tir.SeqStmt(self.at(data["seq"]))

    def _Evaluate(self, data):
        return tir.Evaluate(self.at(data["value"]))

    def _IfThenElse(self, data):
        return tir.IfThenElse(*(self.at(data[name]) for name in ("condition", "then_case", "else_case")))

    def _For(self, data):
        loop_var, begin, extent, body, binding, notes = (
            self.at(data[name])
            for name in ("loop_var", "min", "extent", "body", "thread_binding", "annotations")
        )
        return make_for(loop_var, begin, extent, data["kind"], body, binding, notes)

    def _IterVar(self, data):
        dom, var, tag = (self.at(data[name]) for name in ("dom", "var", "thread_tag"))
        return make_iter_var(dom, var, data["iter_type"], tag)

    def _SBlock(self, data):
        names = (
            *("iter_vars", "reads", "writes", "name_hint", "body", "init"),
            *("alloc_buffers", "match_buffers", "annotations"),
        )
        values = {name: self.at(data[name]) for name in names}
        values["name_hint"] = getattr(values["name_hint"], "name", values["name_hint"])
        return make_block(**values)

    def _SBlockRealize(self, data):
        values, predicate, block = (self.at(data[name]) for name in ("iter_values", "predicate", "block"))
        return tir.BlockRealize(values, predicate, block)

    def _PrimFunc(self, data):
        attrs = self._nodes[data["attrs"]]["data"]
        attrs = self.at(attrs["__dict__"]) if isinstance(attrs, dict) else {}
        kept = {key: value for key, value in attrs.items() if key in ("global_symbol", "tirx.noalias")}
        kept = {key.replace("tirx.", "tir."): value for key, value in kept.items()}
        return make_prim_func(self.at(data["params"]), self.at(data["body"]), attrs=kept)


def read_module(graph: dict) -> IRModule:
    """The loop programs of a module in TVM's JSON.

    Raises Unsupported for nodes that are not read, and for files of another version's form; UserError for what is no module
    """
    if "root_index" not in graph:
        raise Unsupported(
            "this JSON of a module is not of the form that apache-tvm 0.27 writes\n"
            "help: give the module itself, JSONDatabase(..., module=mod)"
        )
    try:
        return _module(graph)
    except (KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise UserError("this JSON is not of a module") from error


def _module(graph: dict) -> IRModule:
    reader, root = Reader(graph), graph["nodes"][graph["root_index"]]
    pairs = graph["nodes"][root["data"]["functions"]]["data"]
    functions = {}
    for var, func in zip(pairs[::2], pairs[1::2], strict=True):
        name = reader.at(graph["nodes"][var]["data"]["name_hint"])
        functions[name] = reader.at(func)
    return IRModule(functions)
