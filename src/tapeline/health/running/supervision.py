"""Whether this server sees its runs, and starts and stops them as people ask."""

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, red, sentence

LOOK = (
    "See the server's log, and the disk of the data directory. `tapeline stop --here MODEL` and"
    " `tapeline halt` on the machine stop models without the server."
)


def look(parts: Parts) -> Verdict:
    if trouble := parts.runner.trouble():
        return red(sentence(trouble), LOOK)
    return green("Models are supervised.")
