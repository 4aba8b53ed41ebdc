"""The scopes that are halted, as this server read them last. Every event asks, so nobody is asked.

Other servers with the same database read them every second.
"""

from collections.abc import Awaitable, Callable

Found = frozenset[str | None]
"""The halted projects; None among them if everything is halted."""


class Scopes:
    def __init__(self, read: Callable[[], Awaitable[Found]]) -> None:
        self._read = read
        self._found: Found = frozenset()
        self._begun = self._shown = 0

    def cover(self, project_id: str) -> bool:
        found = self._found
        return bool(found) and (project_id in found or None in found)

    async def look(self) -> None:
        """Read them. What a read finds counts only if none that began later has been shown: two
        may be under way, and the earlier one may have missed a halt."""
        self._begun += 1
        mine = self._begun
        found = await self._read()
        if mine > self._shown:
            self._found, self._shown = found, mine
