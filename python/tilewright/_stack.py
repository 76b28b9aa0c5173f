"""The contexts that `with` statements of a thread have opened."""

import threading


class ContextStack(threading.local):
    """The open contexts of one kind, the innermost last; each thread has its own."""

    def __init__(self):
        self.items: list = []

    def push(self, context):
        """`context`, which is the innermost now."""
        self.items.append(context)
        return context

    def pop(self) -> None:
        """Closes the innermost context."""
        self.items.pop()

    @property
    def top(self):
        """The innermost context; None outside of any."""
        return self.items[-1] if self.items else None
