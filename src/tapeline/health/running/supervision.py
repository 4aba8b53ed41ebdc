"""Whether this server sees its runs, and starts and stops them as people ask."""

from tapeline import typed_commands
from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, red, sentence

LOOK = (
    "See the server's log, and the disk of the data directory. `{stop}` (with the id of the model)"
    " and `{halt}` on the machine stop models without the server."
)


def look(parts: Parts) -> Verdict:
    if trouble := parts.runner.trouble():
        stop = typed_commands.here("tapeline stop --here MODEL", parts.settings)
        halt = typed_commands.here("tapeline halt --here", parts.settings)
        return red(sentence(trouble), LOOK.format(stop=stop, halt=halt))
    return green("Models are supervised.")
