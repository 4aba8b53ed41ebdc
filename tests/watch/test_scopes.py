"""What a server knows of halts while it answers events: never older than what it has answered."""

import asyncio

from tapeline.watch.halts.scopes import Found, Scopes


def test_a_read_that_began_before_a_halt_does_not_hide_it() -> None:
    async def scene() -> None:
        reads: list[asyncio.Future[Found]] = []

        def read() -> asyncio.Future[Found]:
            reads.append(asyncio.get_running_loop().create_future())
            return reads[-1]

        scopes = Scopes(read)
        early, late = (asyncio.ensure_future(scopes.look()) for _ in range(2))
        await asyncio.sleep(0)
        reads[1].set_result(frozenset({"p1"}))
        await late
        reads[0].set_result(frozenset())
        await early
        assert scopes.cover("p1")

    asyncio.run(scene())


def test_a_halt_of_everything_covers_every_project() -> None:
    async def scene() -> None:
        async def read() -> Found:
            return frozenset({None})

        scopes = Scopes(read)
        assert not scopes.cover("p1")
        await scopes.look()
        assert scopes.cover("p1")

    asyncio.run(scene())
