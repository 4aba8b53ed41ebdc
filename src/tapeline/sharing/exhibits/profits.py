"""Profit and loss as first reported and as it stood then, of a live record up to a delay."""

from tapeline.results.changes.figures import Figures, Start, figures
from tapeline.results.changes.folding import Folded
from tapeline.sharing.exhibits.replay import Replay


def replayed(replay: Replay, folded: Folded, late_after: float) -> Figures:
    start = Start(replay.first_order_at, late_after)
    now = replay.books().books
    return figures(folded, now, replay.first_books(folded), replay.quote, start)
