"""Pools have all their threads at once, and what is brief does not wait behind what takes long."""

import asyncio
import threading

from tapeline.thread_pools import briefly, threads


def test_a_pool_has_all_its_threads_before_a_shortage_of_them() -> None:
    pool = threads(3, "early")
    assert len([one for one in threading.enumerate() if one.name.startswith("early")]) == 3
    assert list(pool.map(abs, [-1, -2, -3, -4])) == [1, 2, 3, 4]
    pool.shutdown()


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
