"""Why a symbol is not computed, as far as a link may say it: the same in figures and in changes."""

from tapeline.sharing.links.choices import Choices


def shown(said: str, choices: Choices) -> str | None:
    """A reason may name currencies and contracts, which reveal the symbol, and numbers. None if
    nothing of it may be shown."""
    if choices.shows_sizes:
        return said
    words = said.partition(":")[0].rstrip(".") + "."
    is_safe = choices.shows_symbols and not any(one.isdigit() for one in words)
    return words if is_safe else None
