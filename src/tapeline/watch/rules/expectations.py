"""What a version expects of itself: `expectations` in platform.json, rules that travel with it."""

from collections.abc import Sequence
from typing import Any

from tapeline.errors import InvalidManifest
from tapeline.watch.rules import rule as rule_json
from tapeline.watch.rules.invalid import InvalidRule
from tapeline.watch.rules.rule import Rule


def read(expected: Sequence[Any]) -> list[Rule]:
    """Raises `InvalidManifest` for the first that is not valid, and names it."""
    found: dict[str, Rule] = {}
    for number, one in enumerate(expected):
        try:
            rule = rule_json.read(one, "model")
        except InvalidRule as error:
            raise InvalidManifest(
                f"`expectations[{number}]` in platform.json: {error.message}", field="expectations"
            ) from None
        if rule.name in found:
            raise InvalidManifest(
                f"`expectations[{number}]` in platform.json has the name of another one:"
                f" {rule.name}.",
                field="expectations",
            )
        found[rule.name] = rule
    return list(found.values())
