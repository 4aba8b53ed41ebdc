"""Changes after the fact of a model's own figures, and of whose figures count. No store here.

`set-pnl` sends the whole series each time. A change is a value that is new, different or gone for a
time that is past, and a change of the source: computed, the model's own, or none.
"""

from tapeline.results.changes.change import Change, FieldChange, Report, Sort
from tapeline.results.pnl.summary import Source
from tapeline.tape.events import kinds

Values = dict[float, float | None]
Key = tuple[float, float]


class OwnFigures:
    """The model's own profit and loss, which replaces what is computed."""

    def __init__(self, late_after: float) -> None:
        self.source: Source = "computed"
        self.first_source: Source = "computed"
        """Before or soon after anything counted."""
        self.first: float | None = None
        """The last value that was reported in time, as it was first said."""
        self._late_after = late_after
        self._is_off = False
        self._since: float | None = None
        """When the first values arrived: an empty list is no figure."""
        self._known: Values = {}
        self._ahead: dict[float, float] = {}
        """When values of the future were first said."""
        self._best: Key | None = None

    @property
    def weight(self) -> int:
        return len(self._known) + len(self._ahead)

    @property
    def now(self) -> float | None:
        return self._known[max(self._known)] if self._known else None

    def take(self, one: Report, begun: float | None) -> list[Change]:
        """What it changed after the fact. `begun`: when the first order, position or cash arrived,
        if any did so far."""
        fields: list[FieldChange] = []
        facts: list[float] = []
        early: list[Change] = []
        if one.kind is kinds.AUTO_PNL:
            self._is_off = not one.fields.get("enabled", True)
        else:
            early, facts, fields = self._replace(one)
        start = min((at for at in (begun, self._since) if at is not None), default=None)
        switch = self._switched(one, start)
        if switch is not None and start is not None:
            facts, fields = [*facts, start], [switch, *fields]
        if facts and one.received_at - min(facts) > self._late_after:
            return [*early, _change(one, "changed", min(facts), fields)]
        return early

    def _switched(self, one: Report, start: float | None) -> FieldChange | None:
        before = self.source
        self.source = "model" if self._known else "off" if self._is_off else "computed"
        if start is None or one.received_at - start <= self._late_after:
            self.first_source = self.source
        return None if before == self.source else FieldChange("source", before, self.source)

    def _replace(self, one: Report) -> tuple[list[Change], list[float], list[FieldChange]]:
        """What it says of the future; what was touched of the past, and how to say it."""
        said = {point["time"]: point.get("value") for point in one.fields.get("values", [])}
        known, arrival = self._known, one.received_at
        self._known = said
        if said and self._since is None:
            self._since = arrival
        touched = [at for at in said.keys() | known.keys() if _differs(said, known, at)]
        early = self._note_ahead(one, [at for at in touched if at in said])
        facts = {at: min(at, self._ahead.get(at, at)) for at in touched}
        past = [at for at in touched if arrival - facts[at] > self._late_after]
        self._note_first(said, touched, set(past))
        if not touched:
            return early, [], []
        newest = max(past or touched)
        values = [FieldChange("values", None, float(len(past)))] if past else []
        value = FieldChange("value", known.get(newest), said.get(newest))
        return early, [facts[at] for at in past], [*values, value]

    def _note_ahead(self, one: Report, new: list[float]) -> list[Change]:
        ahead = [at for at in new if at - one.received_at > self._late_after]
        unknown = [at for at in ahead if at not in self._ahead]
        self._ahead.update(dict.fromkeys(unknown, one.received_at))
        count = FieldChange("values", None, float(len(unknown)))
        return [_change(one, "early", max(unknown), [count])] if unknown else []

    def _note_first(self, said: Values, new: list[float], late: set[float]) -> None:
        """A value of the future counts where it was said, so that it hides nothing until then."""
        for at in new:
            if at in said and at not in late:
                key = (self._ahead.get(at, at), at)
                if self._best is None or key > self._best:
                    self._best, self.first = key, said[at]


def _differs(said: Values, known: Values, at: float) -> bool:
    return (at in said, said.get(at)) != (at in known, known.get(at))


def _change(one: Report, sort: Sort, fact: float, fields: list[FieldChange]) -> Change:
    return Change(
        seq=one.seq,
        received_at=one.received_at,
        about="own_figures",
        sort=sort,
        time=fact,
        late_by=max(0.0, one.received_at - fact),
        fields=fields,
    )
