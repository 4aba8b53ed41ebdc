"""Threads for what takes a moment and must not wait behind what takes long.

The few threads of `asyncio.to_thread` are everybody's, and may all wait for another machine.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import ParamSpec, TypeVar

from tapeline.background import threads

P = ParamSpec("P")
T = TypeVar("T")


async def briefly(act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_threads(), partial(act, *args, **kwargs))


@cache
def _threads() -> ThreadPoolExecutor:
    return threads(2, "brief")
