"""Pseudonyms for hidden names: the same everywhere under one link."""

from collections.abc import Iterable

from tapeline.sharing.links.links import Share
from tapeline.store.encryption import Cipher


class Names:
    """Symbols, exchanges and currencies become S1, S2, …, E1, … and C1, … in the order given."""

    def __init__(
        self,
        cipher: Cipher,
        share: Share,
        symbols: Iterable[str],
        exchanges: Iterable[str] = (),
        currencies: Iterable[str] = (),
    ) -> None:
        self._cipher = cipher
        self._share = share
        self._symbols = {name: f"S{n}" for n, name in enumerate(dict.fromkeys(symbols), 1)}
        self._exchanges = {name: f"E{n}" for n, name in enumerate(dict.fromkeys(exchanges), 1)}
        self._currencies = {name: f"C{n}" for n, name in enumerate(dict.fromkeys(currencies), 1)}

    def symbol(self, name: object) -> str | None:
        return self._named("S", self._symbols, name)

    def exchange(self, name: object) -> str | None:
        return self._named("E", self._exchanges, name)

    def currency(self, name: object) -> str | None:
        """Of amounts that are shown. A hidden currency needs a name only beside another one."""
        if not self._share.choices.shows_symbols and len(self._currencies) < 2:
            return None
        return self._named("C", self._currencies, name)

    def order(self, order_id: str) -> str:
        """Ids come from the model and may contain anything, so they are never shown."""
        return "o" + self._mark("order", order_id)[:16]

    def _named(self, letter: str, known: dict[str, str], name: object) -> str | None:
        if not isinstance(name, str) or not name:
            return None
        if self._share.choices.shows_symbols:
            return name
        return known.get(name) or f"{letter}-{self._mark(letter, name)[:6]}"

    def _mark(self, what: str, name: str) -> str:
        words = f"share name\n{self._share.id}\n{what}\n{name}"
        return self._cipher.fingerprints(words.encode("utf-8", "surrogatepass"))[0]
