"""Changing models: a visitor of a module's attributes whose methods return what takes their place."""

from .core import Effect, Module, ModuleDict, ModuleList, Parameter, _children, _joined


class Mutator:
    """Replaces parts of a model: override the methods for the kinds of values that change.

    class Quantize(nn.Mutator):
        def visit_module(self, name, node):
            return QuantizedLinear(node) if isinstance(node, nn.Linear) else super().visit_module(name, node)

    model = Quantize().visit("model", model)
    """

    def visit(self, name: str, node):
        """The node that replaces `node`, whose dotted name is `name`."""
        for kind, method in (
            (ModuleList, self.visit_modulelist),
            (ModuleDict, self.visit_moduledict),
            (Module, self.visit_module),
            (Effect, self.visit_effect),
            (Parameter, self.visit_param),
        ):
            if isinstance(node, kind):
                return method(name, node)
        return node

    def visit_module(self, name: str, node: Module):
        """`node` with its attributes visited."""
        for key, value in _children(node):
            setattr(node, key, self.visit(_joined(name, key), value))
        return node

    def visit_modulelist(self, name: str, node: ModuleList):
        """`node` with its modules visited."""
        for index, value in enumerate(node):
            node[index] = self.visit(_joined(name, str(index)), value)
        return node

    def visit_moduledict(self, name: str, node: ModuleDict):
        """`node` with its modules visited."""
        for key, value in list(node.items()):
            node[key] = self.visit(_joined(name, key), value)
        return node

    def visit_effect(self, name: str, node: Effect):
        """`node`."""
        return node

    def visit_param(self, name: str, node: Parameter):
        """`node`."""
        return node
