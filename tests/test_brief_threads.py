"""What takes a moment does not wait behind what takes long."""

import asyncio
import threading

from tapeline.brief_threads import briefly


def test_threads_that_wait_for_another_machine_delay_nothing_brief() -> None:
    async def all_wait() -> None:
        done, loop = threading.Event(), asyncio.get_running_loop()
        # More than `asyncio.to_thread` has.
        waiting = [loop.run_in_executor(None, done.wait) for _ in range(100)]
        try:
            async with asyncio.timeout(60):
                assert await briefly(sum, [1, 2]) == 3
        finally:
            done.set()
            await asyncio.gather(*waiting)

    asyncio.run(all_wait())
