"""Profit and loss as first reported and as it stood then, of a live record up to a delay."""

from tapeline.results.changes.figures import Figures, figures
from tapeline.results.changes.folding import Folded
from tapeline.sharing.exhibits.replay import Replay


def replayed(replay: Replay, folded: Folded) -> Figures:
    now = replay.books().books
    return figures(folded, now, replay.first_books(folded), replay.quote)
