"""Work that is begun before it is known to be wanted, while this thread waits for jobs elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Generic, TypeVar

T = TypeVar("T")


class Ahead(Generic[T]):
    """A result that another thread may find in the meantime; it is the same whoever finds it.

    What finds it takes a function that tells whether it is not wanted any more; then it may raise anything.

    Examples
    --------
    >>> with Ahead() as answer:
    ...     answer.begin(lambda given_up: 6 * 7)
    ...     answer.begun.result()
    42
    """

    begun: Future[T] | None = None

    def __init__(self) -> None:
        self._pool, self._given_up = ThreadPoolExecutor(1), Event()

    def __enter__(self) -> Ahead[T]:
        return self

    def begin(self, find: Callable[[Callable[[], bool]], T]) -> None:
        """Let the other thread find it."""
        self.begun = self._pool.submit(find, self._given_up.is_set)

    def __exit__(self, *error: object) -> None:
        self._given_up.set()
        self._pool.shutdown()  # nothing may go on behind the caller's back
