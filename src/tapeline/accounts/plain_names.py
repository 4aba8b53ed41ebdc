"""Names and addresses on one line, which a terminal, a log and a page show as they are.

A control character moves a terminal's cursor and a bidirectional override turns text around: a name
with one could hide or forge the rows beside it.
"""

import re

from tapeline.errors import Invalid

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def require(text: str, field: str) -> None:
    if CONTROL.search(text):
        raise Invalid(
            f"`{field}` must be one line without control characters and text direction marks.",
            field=field,
        )
