"""A stranger checks a shared record in a real browser: on the server's page, and with a saved copy
of the checker, without a network."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Person, Service
from tests.e2e import looks
from tests.e2e.conftest import Site
from tests.http.sharing.scene import shared
from tests.pushing import Model, pushing

pytestmark = [pytest.mark.heavy, pytest.mark.scripted]

SLOW = 60_000  # milliseconds


def trade(model: Model) -> None:
    for number in range(20):
        order = {"symbol": "BTC-USD", "exchange": "coinbase", "side": "buy", "size": 1.0}
        model.push("/v1/live/spot-market", {**order, "id": str(number), "executionPrice": 100.0})
        model.push("/v1/live/log", {"line": f"bought “{number}”", "type": "info"})


def judged(page: Page, status: int, sentence: str) -> str:
    """What the page says below its sentence."""
    verdict = page.locator(f"#verdict[data-status='{status}']")
    expect(verdict.get_by_role("heading")).to_contain_text(sentence, timeout=SLOW)
    return page.locator("#headline").inner_text()


def check_file(page: Page, record: Path) -> None:
    page.get_by_label("Record", exact=True).set_input_files(record)
    page.get_by_role("button", name="Check this record").click()


def test_a_stranger_checks_a_shared_record(
    site: Site, service: Service, enter: Callable[[str], Person], tmp_path: Path
) -> None:
    page = site.page
    page.set_default_timeout(SLOW)
    with pushing(service, enter("ada")) as model, service.client() as stranger:
        trade(model)
        token = shared(model, stranger, title="Checked", hide_symbols=True).token
        site.open(f"/s/{token}")
        with page.expect_popup() as opened:
            page.get_by_role("link", name="Check this record").click()
        checker = opened.value
        said = judged(checker, 3, "it is not known who signed it")
        expect(checker.locator("#sections")).to_contain_text("What it does not prove")
        looks.is_fine_as_it_is(checker, "the checker")
        checker.get_by_label("Fingerprint of the key").fill(said.split("signed with ")[1][:16])
        checker.get_by_role("button", name="Check this record").click()
        judged(checker, 0, "signed with the key that you named")
        record, file = tmp_path / "record.ndjson", tmp_path / "checker.html"
        record.write_bytes(stranger.get(f"/api/shared/{token}/record").content)
        file.write_bytes(stranger.get("/checker.html").content)
        trusts_a_server(page, file, record, service.address)
    checks_offline(page, file, record)


def trusts_a_server(page: Page, file: Path, record: Path, address: str) -> None:
    """A saved checker asks the server that the reader names for its keys."""
    page.goto(file.as_uri())
    page.get_by_label("address").fill(address)
    check_file(page, record)
    judged(page, 0, "signed with the key that you named")


def checks_offline(page: Page, file: Path, record: Path) -> None:
    page.context.set_offline(True)
    page.goto(file.as_uri())
    check_file(page, record)
    judged(page, 3, "it is not known who signed it")
    forged = record.with_name("forged.ndjson")
    forged.write_bytes(record.read_bytes().replace(b'"side":["buy"', b'"side":["sell"', 1))
    check_file(page, forged)
    assert "The chain breaks at" in judged(page, 1, "Do not trust this record")
