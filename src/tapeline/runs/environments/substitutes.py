"""Packages that cannot be installed on every machine, and their replacements.

Only for packages that nobody maintains any more and that models of the older platform need: an
entry is the same module under another name. The setting `package_substitutes` turns them off.
"""

import msgspec


class Substitute(msgspec.Struct, frozen=True):
    package: str
    instead: str
    """A requirement, pinned."""
    why: str
    bound: str = ""
    """A requirement that the package has where it can be installed, and does not name."""


KNOWN = (
    Substitute(
        "newnewtulipy",
        "newtulipy==0.4.6",
        "Needed by `blankly`. Wheels for x86 and Python 3.7 to 3.11 only, and a source archive that"
        " lacks a file. Both are the module `tulipy`. Those wheels were made for numpy 1, and do"
        " not say so.",
        "numpy<2",
    ),
)


def by_package() -> dict[str, str]:
    return {one.package: one.instead for one in KNOWN}


def bounds() -> dict[str, str]:
    return {one.package: one.bound for one in KNOWN if one.bound}
