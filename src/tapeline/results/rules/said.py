"""What an order says, by the words of all its reports together."""

from typing import Any

from tapeline.tape.orders import OrderState


class Said:
    """An order's words. What cannot be read counts as not said."""

    def __init__(self, state: OrderState) -> None:
        assert state.base is not None
        self._changes = state.changes
        self._base = state.base.body

    def first(self, names: tuple[str, ...], read: Any) -> Any:
        """By whatever name it was said last; else as the order itself said it."""
        if self._changes:  # most orders are never changed
            changed = [self._changes[name] for name in names if name in self._changes]
            if len(changed) > 1:
                changed.sort(key=lambda one: (one.time, one.seq), reverse=True)
            for change in changed:
                value = read(change.value)
                if value is not None:
                    return value
        for word in names:
            said = self._base.get(word)
            if said is not None and (value := read(said)) is not None:
                return value
        return None
