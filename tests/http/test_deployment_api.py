"""Projects as clients create, list and delete them."""

from tests.conftest import Cast


def test_smoke(cast: Cast) -> None:
    made = cast.owner.post("/project/create", data={"name": "Beta"}).json()
    assert made["status"] == "created"
    assert cast.outsider.get(f"/api/projects/{cast.project_id}").status_code == 404
    assert cast.viewer.get(f"/api/projects/{cast.project_id}").json()["role"] == "viewer"
