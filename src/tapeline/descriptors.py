"""How many files and connections this process may have open, and how many are not for strangers.

Without a reserve a flood of connections takes the last descriptor, and what keeps the models can
open neither a lock nor a journal.
"""

import resource

MOST = 1_048_576  # some programs walk through all that they may have, and inherit this
RESERVE = 256
"""For the database, journals, locks, launches and uploads that are under way."""


def raise_limit() -> int:
    """As far as it goes without being root; the limit from now on."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return limit()


def limit() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else soft


def for_connections() -> int:
    """How many may be taken by connections; the rest is kept back."""
    return limit() - min(RESERVE, limit() // 2)
