"""Everything that belongs to a model, table by table: the one list that every deletion goes by.

Some rows go with the model's own row; what hangs on its tape may be millions of rows, and goes in
portions (`tape/cleanup.py`). A table that says whose model it is and stands nowhere here fails a
test. What a model has on a host's disk is in `runs/engines/model_files.py`.
"""

from sqlalchemy import Table

from tapeline.store.tables.core import (
    answers,
    attempts,
    audit,
    deleted_models,
    facts,
    invitations,
    key_addresses,
    keys,
    members,
    models,
    projects,
    retention,
    sign_ins,
    users,
)
from tapeline.store.tables.ledger import (
    books,
    curves,
    entries,
    late_events,
    ledgers,
    places,
    sketches,
    statements,
)
from tapeline.store.tables.prices import price_arrivals, price_chunks, price_series
from tapeline.store.tables.results import (
    discards,
    report_pieces,
    reports,
    trials,
    trials_by_result,
)
from tapeline.store.tables.roots import head_leaves, head_trees, stamps
from tapeline.store.tables.runs import (
    hosts,
    published_starters,
    runs,
    samples,
    secrets,
    versions,
)
from tapeline.store.tables.shares import share_visits, shares
from tapeline.store.tables.tape import (
    backtests,
    cash,
    checkpoints,
    orders,
    pages,
    pieces,
    signing_keys,
    states,
    tapes,
    used,
)
from tapeline.store.tables.watch import (
    channels,
    halted_models,
    halts,
    incident_events,
    incidents,
    outbox,
    rule_states,
    rules,
)
from tapeline.store.tables.witnesses import (
    cosignatures,
    refusals,
    witnessed_heads,
    witnessed_logs,
    witnesses,
)

WITH_THE_ROW: tuple[Table, ...] = (
    versions, published_starters, runs, keys, key_addresses, samples, secrets, shares, share_visits,
    halted_models, rules, rule_states, incidents, incident_events, outbox,
)  # fmt: skip
"""The database deletes them together with the model; of keys, those of its runs; of rules and their
incidents, those about it."""

OF_UPLOADS: tuple[Table, ...] = (pieces, report_pieces, reports, discards)
"""By `upload`. `discards` last: until then it says whose the others are."""

ON_THE_TAPE: tuple[Table, ...] = (
    pages, orders, cash, places, statements, entries, curves, sketches, late_events, books,
    ledgers, states, used, checkpoints, trials, trials_by_result, backtests, price_arrivals,
    price_chunks, price_series,
)  # fmt: skip
"""By `tape`."""

LAST: tuple[Table, ...] = (answers, tapes)
"""Remembered answers to requests about the tape; then the tape itself, without which nobody would
find the rest."""

OF_OTHERS: tuple[Table, ...] = (
    facts, users, sign_ins, attempts, projects, members, invitations, models, deleted_models, audit,
    retention, signing_keys, head_trees, head_leaves, stamps, hosts, cosignatures, witnesses,
    witnessed_logs, witnessed_heads, refusals, halts, channels,
)  # fmt: skip
"""The audit log outlives the things it is about."""


def scope_of(tape: int) -> str:
    """The scope of remembered answers to requests with a key for this tape."""
    return f"tape:{tape}"
