"""Whether a hold keeps models from running."""

from tapeline import typed_commands
from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, yellow

RELEASE = "When no other copy of this server runs: "


def look(parts: Parts) -> Verdict:
    if hold := parts.runner.hold():
        release = typed_commands.with_database("tapeline release", parts.settings)
        return yellow(f"No model runs: the server is {hold.sentence()}", RELEASE + release)
    return green("Nothing keeps models from running.")
