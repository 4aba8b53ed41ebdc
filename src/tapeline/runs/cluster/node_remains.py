"""Removes the files of deleted models from the nodes, and what this server has fetched from them.

The server that leads does it, on every node that answers.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

from tapeline.background import Background
from tapeline.leading import LeadsNoMore
from tapeline.runs import run as run_records
from tapeline.runs.cluster.fetched_files import FetchedFiles
from tapeline.runs.cluster.members import Members, is_of_node
from tapeline.runs.engines import model_files
from tapeline.runs.engines.model_files import Doomed, Remains
from tapeline.store.store import Store
from tapeline.thread_pools import in_thread


class NodeRemains:
    def __init__(
        self,
        members: Members,
        fetched: FetchedFiles,
        store: Store,
        background: Background,
        pool: ThreadPoolExecutor,
    ) -> None:
        self._members, self._fetched, self._store = members, fetched, store
        self._threads = pool
        self._work = background.loop(
            "remains", self.turn, every=model_files.EVERY, within=model_files.WITHIN, once=True
        )

    async def turn(self) -> None:
        """A node that fails, however it does, keeps nobody else's files."""
        await self._clear_fetched()
        for name in self._members.all():
            try:
                await self._clear(name)
            except LeadsNoMore:
                raise
            except Exception as error:  # noqa: BLE001 - of one node; the others are cleared
                self._work.note(error, f"node {name}", is_ours=not is_of_node(error))

    async def _clear(self, name: str) -> None:
        ask = partial(self._members.call, name)
        remains = await in_thread(self._threads, ask, "remains", None, Remains)
        doomed = await self._store.read(model_files.doomed, remains)
        if doomed != Doomed():
            await in_thread(self._threads, ask, "discard", doomed, type(None))

    async def _clear_fetched(self) -> None:
        """A node that is lost is never cleared of the run whose result was fetched from it."""
        if results := await in_thread(self._threads, self._fetched.unused_results):
            for ended in results - await self._store.read(run_records.open_among, results):
                self._fetched.discard_result(ended)
