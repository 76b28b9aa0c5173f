"""Names that `type(x)` shows: the module and name that a class had in the era whose spelling created the object."""

from .. import ir, relax, runtime, te, tir

# class, module, name: as the course's texts print them
_SHOWN = [
    (ir.IRModule, "tvm.ir.module", "IRModule"),
    (tir.PrimFunc, "tvm.tir.function", "PrimFunc"),
    (runtime.Tensor, "tvm.runtime.ndarray", "NDArray"),
    (te.Tensor, "tvm.te.tensor", "Tensor"),
    (relax.Executable, "tvm.relax.vm_build", "Executable"),
    *(
        (getattr(relax, name), "tvm.relax.expr", name)
        for name in (
            "Call",
            "Constant",
            "DataflowBlock",
            "DataflowVar",
            "Function",
            "If",
            "MatchCast",
            "SeqExpr",
            "ShapeExpr",
            "Tuple",
            "TupleGetItem",
            "Var",
            "VarBinding",
        )
    ),
]


def rename() -> None:
    """Gives the classes their old names for the rest of the process."""
    for cls, module, name in _SHOWN:
        cls.__module__ = module
        cls.__name__ = cls.__qualname__ = name


def add_spellings() -> None:
    """Methods under the names that other years gave them."""
    runtime.Tensor.copyfrom = runtime.Tensor.copy_from


class OldExecutable:
    """The result of `relax.vm.build` of 2022: an executable under its old name."""

    def __init__(self, executable):
        self.executable = executable

    @classmethod
    def of(cls, executable) -> "OldExecutable":
        """`executable`, showing itself under the old name."""
        return cls(executable)

    def __getattr__(self, name: str):
        return getattr(self.executable, name)


OldExecutable.__module__ = "tvm.relax.vm"
OldExecutable.__name__ = OldExecutable.__qualname__ = "Executable"
