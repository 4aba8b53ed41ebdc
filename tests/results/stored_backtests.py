"""A backtest whose result add_backtest, without the way that a result takes to get there."""

from sqlalchemy import Connection, select

from tapeline.store import upsert
from tapeline.store.tables.core import models, projects
from tapeline.store.tables.tape import backtests
from tapeline.tape.tapes import open_tape


def add_backtest(connection: Connection, upload: str) -> None:
    """Of one model, by the name of its upload."""
    project = {"id": "p", "name": "P", "description": "", "created_at": 0.0}
    model = {**project, "id": "m", "project_id": "p", "type": "strategy"}
    for table, row in ((projects, project), (models, model)):
        connection.execute(upsert.insert(connection, table).values(row).on_conflict_do_nothing())
    tape = open_tape(connection, "m")
    known = select(backtests.c.no).where(backtests.c.upload == upload)
    if connection.scalar(known) is None:
        row = {"tape": tape, "id": upload, "created_at": 0.0}
        result = {"result": b"{}", "result_seq": 1, "upload": upload}
        connection.execute(backtests.insert().values(row | result))
