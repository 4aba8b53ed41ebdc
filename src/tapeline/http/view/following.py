"""How every stream of changes goes on: send what is new, wait until there may be more, repeat."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing

from tapeline.http.core import long_answers
from tapeline.tape.append.watchers import Watcher, Watchers

TOGETHER = 0.01  # seconds: events that arrive within this time are sent in one piece
LOOKED_EVERY = 1.0  # seconds between looks at a tape while notices of other servers do not arrive
CONNECTED, STILL_HERE = b": connected\n\n", b": still here\n\n"
NOTHING = b""
"""Is not sent: the reader's right is checked."""

Changes = Callable[[Watcher], AsyncGenerator[bytes, None]]
"""What is new since the last call; it has to read the store if the watcher is behind."""
Wait = Callable[[Watcher], Awaitable[bool]]
"""Wait until there may be changes; False after silence."""


async def follow(
    watchers: Watchers, model_ids: Iterable[str], changes: Changes, wait: Wait
) -> AsyncGenerator[bytes, None]:
    """Until the service ends. Silence makes a comment: it shows proxies, and the check of the
    reader's rights, that the stream is alive."""
    watcher, heard = watchers.join(*model_ids), watchers.rights
    try:
        yield CONNECTED
        watcher.is_behind = True  # something may have happened before it joined
        while True:
            async with aclosing(changes(watcher)) as pieces:
                async for piece in pieces:
                    yield piece
            if watchers.closed:
                return
            if watchers.rights == heard and not await wait(watcher):
                watcher.is_behind = True
                yield STILL_HERE
            if watchers.rights != heard:
                heard = watchers.rights
                yield NOTHING
    finally:
        watchers.leave(watcher)


async def woken(watchers: Watchers, watcher: Watcher) -> bool:
    """Wait for news; False if there are none for so long that it is time for a comment."""
    seconds = long_answers.QUIET if watchers.hears_others else LOOKED_EVERY
    try:
        async with asyncio.timeout(seconds):
            await watcher.woken.wait()
    except TimeoutError:
        return False
    await asyncio.sleep(TOGETHER)
    return True
