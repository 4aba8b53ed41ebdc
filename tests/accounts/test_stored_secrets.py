"""What must not be readable in a stolen database: secrets are kept as hashes, everywhere."""

import httpx
from sqlalchemy import Connection, select

from tapeline.store.tables import core
from tests.conftest import Cast, Service

CHOSEN = "a password nobody else has"


def everything(connection: Connection) -> str:
    """Every row of every table, as text."""
    return "\n".join(
        repr(tuple(row))
        for table in core.metadata.sorted_tables
        for row in connection.execute(select(table))
    )


def test_no_secret_is_stored_in_clear(service: Service, cast: Cast, anybody: httpx.Client) -> None:
    home = f"/api/projects/{cast.project_id}"
    key = cast.owner.post("/project/generate-project-token", json={"projectId": cast.project_id})
    invited = [cast.owner.post(f"{home}/invitations", json={}).json()["url"] for _ in range(2)]
    used, unused = (url.rpartition("/")[2] for url in invited)
    new = {"email": "new@example.com", "password": CHOSEN, "invitation": used}
    made = anybody.post("/auth/signup", json=new).json()
    token = anybody.post("/auth/token", json={"refreshToken": made["refreshToken"]}).json()
    change = {"current_password": CHOSEN, "new_password": CHOSEN + "!"}
    changed = anybody.post(
        "/api/me/password",
        json=change,
        headers={"token": made["idToken"], "Idempotency-Key": "once"},
    )
    assert changed.status_code == 200
    stored = service.store.read_now(everything)
    for known in (key.json()["apiKey"], made["userId"], "new@example.com", cast.project_id):
        assert known in stored  # the scan sees what is there
    for secret in (
        key.json()["apiPass"], used, unused, CHOSEN, made["refreshToken"], made["idToken"],
        token["idToken"], cast.owner.refresh_token,
    ):  # fmt: skip
        assert secret not in stored
    assert "$argon2id$" in stored
