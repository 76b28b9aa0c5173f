"""Values of script names when Python evaluates them: annotations such as `T.Buffer((8, 8), "float32")`.

The parser reads the source text itself, so these only need to exist, be called and be subscripted.
"""


class Annotation:
    """A name of the script language, perhaps with arguments; only the parser gives it a meaning."""

    __slots__ = ("_text", "call")

    def __init__(self, text: str, call: tuple = ((), {})):
        self._text = text
        self.call = call  # the arguments, if it was called

    def __call__(self, *args, **kwargs):
        shown = [repr(arg) for arg in args] + [f"{key}={value!r}" for key, value in kwargs.items()]
        return Annotation(f"{self._text}({', '.join(shown)})", (args, kwargs))

    def __getitem__(self, item):
        return Annotation(f"{self._text}[{item!r}]")

    # or Python would ask for element after element, and never come to an end
    __iter__ = __contains__ = None

    def __getattr__(self, name: str):
        if name.startswith("__") or name == "item":  # `item` is how numpy scalars are told
            raise AttributeError(name)
        return Annotation(f"{self._text}.{name}")

    def __repr__(self) -> str:
        return self._text
