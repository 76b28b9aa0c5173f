"""Programs print as they were written: the dialect of script() follows the spelling of the last program read."""

import inspect
import re

from tilewright.ir import printing

#: the first spelling that is found decides
_SIGNS = [
    ("2022", re.compile(r"T\.Buffer\[|(?<![.\w])Tensor\(\(")),
    ("0.27", re.compile(r"T\.sblock|s_tir=True")),
]


def note(text: str) -> None:
    """Sets the default dialect from the spellings in `text`."""
    for dialect, sign in _SIGNS:
        if sign.search(text):
            printing.default_dialect = dialect
            return
    printing.default_dialect = "native"


def watched(decorator):
    """`decorator`, which also notes the era of what it decorates."""

    def decorate(definition=None, **options):
        from tilewright.script.decorators import _decorator, _is_class_body
        from tilewright.script.source import _source_of

        frame = inspect.currentframe().f_back

        def apply(target, frame):
            if inspect.isfunction(target) and _is_class_body(frame):
                return target
            note("".join(_source_of(target)[2]))
            return _decorator(target, frame, options.get("check_well_formed", True))

        if definition is None:
            return lambda later: apply(later, inspect.currentframe().f_back)
        return apply(definition, frame)

    decorate.__doc__ = decorator.__doc__
    return decorate
