"""Live contexts in forked children, where the threads that MLIR gave them are missing."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from twinjit.errors import ForkError
from twinjit.forks import start_anew_in_children

if TYPE_CHECKING:
    from mlir.ir import Context

__all__ = ["LIVE_CONTEXTS", "LiveContexts"]


class LiveContexts:
    """Keeps contexts that passes ran in from being used, or destroyed, in forked children.

    A context's thread pool starts threads as passes need them. In a child, passes would wait for
    those for ever, and so would the pool's destructor, or it would read a stack that is gone.
    """

    def __init__(self) -> None:
        self._threaded: weakref.WeakSet[Context] = weakref.WeakSet()
        self._of_parents: list[Context] = []  # never freed
        start_anew_in_children(self)

    def start_anew(self) -> None:
        """Keep those of the parent for good."""
        self._of_parents += self._threaded
        self._threaded = weakref.WeakSet()

    def start_threads(self, context: Context) -> None:
        """Take note that passes may start threads of a context.

        Raises
        ------
        ForkError
            If they have in a parent process.
        """
        if any(each is context for each in self._of_parents):
            raise ForkError(
                "passes ran in the module's context before this process was forked, and the "
                "context's threads are the parent's; parse the module in a new mlir.ir.Context here"
            )
        self._threaded.add(context)


LIVE_CONTEXTS = LiveContexts()
"""Those of the process."""
