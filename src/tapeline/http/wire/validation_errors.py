"""Turns validation errors of msgspec into messages for the person who sent the request."""

import re

import msgspec

from tapeline.errors import Invalid, MissingField

KINDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}


def explain(error: msgspec.ValidationError) -> Invalid:
    text = str(error)
    where = re.search(r" - at `\$\.?(?:\[\.\.\.\])?([^`]*)`", text)
    field = where.group(1) if where and where.group(1) else None
    if missing := re.match(r"Object missing required field `([^`]+)`", text):
        name = f"{field}.{missing.group(1)}" if field else missing.group(1)
        return MissingField(f"`{name}` is required.", field=name)
    if wrong := re.match(r"Expected `([^`]+)`, got `([^`]+)`", text):
        wanted, given = (_kind(part) for part in wrong.groups())
        return Invalid(f"`{field or 'body'}` must be {wanted}, not {given}.", field=field)
    if unknown := re.match(r"Object contains unknown field `([^`]+)`", text):
        name = f"{field}.{unknown.group(1)}" if field else unknown.group(1)
        return Invalid(f"`{name}` is not known here. Look for a misspelt name.", field=name)
    reason = text.partition(" - at ")[0]
    return Invalid(f"`{field or 'body'}` is not valid: {reason}.", field=field)


def _kind(names: str) -> str:
    words = [KINDS.get(name.strip(), name.strip()) for name in names.split("|")]
    return " or ".join(words)
