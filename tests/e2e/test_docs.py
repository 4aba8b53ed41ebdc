"""The documentation in a real browser: its search works, and its policy is in nobody's way."""

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect

from tests.conftest import Service

pytestmark = [pytest.mark.heavy, pytest.mark.scripted]


def test_a_reader_searches_and_nothing_is_blocked_or_asked_elsewhere(
    page: Page, service: Service
) -> None:
    complaints: list[str] = []
    asked: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            complaints.append(message.text)

    page.on("console", hear)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{service.address}/docs")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Tapeline")
    page.get_by_role("link", name="tutorial", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("from nothing")
    box = page.get_by_role("textbox", name="Search")
    box.click()
    # Its index is read by a worker; what is typed before that is not looked for.
    expect(page.locator(".md-search-result__meta")).to_contain_text("Type to", timeout=20_000)
    box.press_sequentially("underscores")
    found = page.locator(".md-search-result__item").first
    expect(found).to_be_visible(timeout=20_000)
    found.locator("a").first.click()
    expect(page.locator("body")).to_contain_text("underscores_in_headers")
    assert complaints == []
    assert all(url.startswith((service.address, "data:")) for url in asked), asked
