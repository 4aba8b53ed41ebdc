"""Incidents and what is to be told of them, put straight into the tables: without rules."""

import time
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import delete, insert, select, update

from tapeline.accounts.actor import OPERATOR
from tapeline.ids import new_id
from tapeline.store.encryption import Cipher
from tapeline.store.store import Store
from tapeline.store.tables.watch import incident_events, incidents, outbox
from tapeline.watch.sending.jobs import Outcome
from tapeline.watch.telling import channels, claiming, settling
from tapeline.watch.telling.channels import Channel
from tapeline.watch.telling.claiming import Claimed

ADDRESS = "https://hooks.example.org/secret"
ARRIVED = Outcome(id="", arrived=True, status=200, message="Accepted.")
REFUSED = Outcome(id="", arrived=False, status=500, message="The service refused it (status 500).")


@dataclass
class Queue:
    store: Store
    cipher: Cipher = field(default_factory=lambda: Cipher(b"k" * 32))

    def channel(self, name: str = "ops", address: str = ADDRESS, **held: Any) -> Channel:
        chosen = channels.address_of(address)
        made, _ = self.store.write_now(
            channels.create, OPERATOR, self.cipher, None, name, chosen, **held
        )
        return made

    def incident(self, severity: str = "warning", **more: Any) -> str:
        made = {
            "id": new_id(),
            "subject": "",
            "name": f"rule {new_id()}",
            "severity": severity,
            "spec": {"unit": "percent"},
            "said": "12 % is over 10 %.",
            "value": 12.0,
            "limit": 10.0,
            "began_at": time.time(),
            "fired_at": time.time(),
        } | more
        self._do(insert(incidents).values(**made))
        return str(made["id"])

    def resolve(self, incident_id: str) -> None:
        over = {"resolved_at": time.time(), "resolution": "It is fine again."}
        self._do(update(incidents).where(incidents.c.id == incident_id).values(**over))

    def delete(self, incident_id: str) -> None:
        self._do(delete(incidents).where(incidents.c.id == incident_id))

    def acknowledge(self, incident_id: str) -> None:
        known = {"acknowledged_at": time.time(), "acknowledged_by": "ada"}
        self._do(update(incidents).where(incidents.c.id == incident_id).values(**known))

    def put(
        self,
        incident_id: str,
        channel: Channel,
        what: str = "fired",
        step: int = 0,
        due_at: float = 0.0,
    ) -> str:
        clock = self.store.clock
        row = {
            "id": new_id(),
            "incident_id": incident_id,
            "channel_id": channel.id,
            "what": what,
            "step": step,
            "made_at": time.time(),
            "due_at": due_at,
            "due_steadily_at": due_at - clock.ahead if what == "escalated" else None,
            "attempts": 0,
        }
        self._do(insert(outbox).values(**row))
        return str(row["id"])

    def claim(self, channel: Channel) -> Claimed | None:
        return self.store.write_now(claiming.claim, channel.id)

    def tell(self, channel: Channel, outcome: Outcome = ARRIVED) -> Claimed:
        claimed = self.claim(channel)
        assert claimed is not None
        self.store.write_now(settling.settle, claimed, outcome)
        return claimed

    def rows(self) -> dict[str, Any]:
        found = self.store.read_now(lambda connection: connection.execute(select(outbox)).all())
        return {row.id: row for row in found}

    def make_due(self) -> None:
        self._do(update(outbox).values(due_at=0.0, due_steadily_at=None))

    def forget_claims(self) -> None:
        self._do(update(outbox).values(claimed_until=1.0))

    def timeline(self, incident_id: str) -> list[str]:
        query = select(incident_events.c.what).where(incident_events.c.incident_id == incident_id)
        ordered = query.order_by(incident_events.c.number)
        return self.store.read_now(lambda connection: list(connection.scalars(ordered)))

    def _do(self, statement: Any) -> None:
        self.store.write_now(lambda connection: connection.execute(statement) and None)
