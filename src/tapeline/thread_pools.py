"""Pools of threads, and work of the event loop in them.

The few threads of `asyncio.to_thread` are everybody's, and may all wait for another machine. So
what takes long has a pool of its own, and what takes a moment and must not wait is done `briefly`.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def threads(count: int, name: str) -> ThreadPoolExecutor:
    """A pool whose threads all exist from the start. A pool that starts them on demand fails when
    the machine has no room for one, with the work already in its queue."""
    pool = ThreadPoolExecutor(count, thread_name_prefix=name)
    all_exist = threading.Event()
    try:
        for _ in range(count):
            pool.submit(all_exist.wait)
    finally:
        all_exist.set()
    return pool


async def in_thread(
    pool: ThreadPoolExecutor, act: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    return await asyncio.get_running_loop().run_in_executor(pool, partial(act, *args, **kwargs))


async def briefly(act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    return await in_thread(_brief(), act, *args, **kwargs)


@cache
def _brief() -> ThreadPoolExecutor:
    return threads(2, "brief")
