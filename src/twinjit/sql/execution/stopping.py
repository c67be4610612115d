"""The wish that a query end early."""

from __future__ import annotations

from time import monotonic

import numpy as np

from twinjit.errors import QueryCancelledError, QueryTimeoutError

__all__ = ["QueryStop"]


class QueryStop:
    """Says whether a query is to end, to Python and to machine code.

    Parameters
    ----------
    timeout
        Seconds from now; None for no limit.

    Attributes
    ----------
    flag
        Shape (1,), int64: other than 0 once it is to end. Native loops look at it.
    """

    def __init__(self, timeout: float | None) -> None:
        self._timeout = timeout
        self._deadline = None if timeout is None else monotonic() + timeout
        self._is_cancelled = False
        self.flag = np.zeros(1, np.int64)

    def cancel(self) -> None:
        """Wish for it, from any thread."""
        self._is_cancelled = True
        self.flag[0] = 1

    def check(self) -> None:
        """End the query, if it is to end.

        Raises
        ------
        QueryCancelledError
            If it was cancelled.
        QueryTimeoutError
            If its time is over.
        """
        if self._is_cancelled:
            raise QueryCancelledError("the query was cancelled")
        if self._deadline is not None and monotonic() >= self._deadline:
            self.flag[0] = 1  # for what other threads do
            raise QueryTimeoutError(f"the query did not end in {self._timeout:g} seconds")

    @property
    def remaining(self) -> float | None:
        """Seconds until the deadline; None for no limit."""
        return None if self._deadline is None else max(0.0, self._deadline - monotonic())
