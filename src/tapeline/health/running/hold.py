"""Whether a hold keeps models from running."""

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, yellow

RELEASE = "When no other copy of this server runs: tapeline release"


def look(parts: Parts) -> Verdict:
    if hold := parts.runner.hold():
        return yellow(f"No model runs: the server is {hold.sentence()}", RELEASE)
    return green("Nothing keeps models from running.")
