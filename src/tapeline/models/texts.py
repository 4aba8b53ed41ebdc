"""Rules for the names and descriptions of models, projects and versions."""

from tapeline.accounts import plain_names
from tapeline.errors import Invalid

LONGEST_NAME = 120
LONGEST_DESCRIPTION = 10_000


def checked_name(name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= LONGEST_NAME:
        raise Invalid(f"`name` must have 1 to {LONGEST_NAME} characters.", field="name")
    plain_names.require(name, "name")
    return name


def checked_description(description: str) -> str:
    if len(description) > LONGEST_DESCRIPTION:
        raise Invalid(
            f"`description` must have at most {LONGEST_DESCRIPTION} characters.",
            field="description",
        )
    return description
