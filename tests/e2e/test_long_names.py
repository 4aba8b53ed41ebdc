"""One long name takes no room from anything else, on a desk and on a phone."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Person, Service
from tests.e2e.conftest import Site
from tests.http.sharing.scene import shared
from tests.pushing import Model, pushing

pytestmark = pytest.mark.heavy

SLOW = 60_000  # milliseconds
LONG = "EXTRAORDINARILY-LONG-" * 5
WIDTHS = (1440, 390)

# Whatever is wider than its box; a shared table may scroll, but not because of its names.
OVERFLOWING = """() => [document.scrollingElement,
        ...document.querySelectorAll('div.overflow-x-auto, li, section, dl')]
    .filter(one => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)
    .map(one => `${one.tagName}.${one.className} ${one.scrollWidth} > ${one.clientWidth}`)"""
PUSHED_OUT = """() => [...document.querySelectorAll('.scroll:not(:has(.months)) tr')]
    .filter(row => row.cells[2].getBoundingClientRect().right
        > row.closest('.scroll').getBoundingClientRect().right)
    .map(row => row.innerText)"""


@pytest.fixture
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    return {**browser_context_args, "java_script_enabled": True}


def trade(model: Model) -> None:
    names = {"name": f"M{LONG}"}
    assert model.owner.patch(f"/api/models/{model.id}", json=names).is_success
    order = {"symbol": f"{LONG}USD", "exchange": f"X{LONG}", "side": "buy", "size": 1}
    for number in range(3):
        more = {"id": str(number), "executionPrice": 100 + number, "fee": 1}
        model.push("/v1/live/spot-market", {**order, **more})
    model.push("/v1/model/lifecycle", {"message": LONG, "running": True})


def fits(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate(OVERFLOWING) == [], width
    assert page.evaluate(PUSHED_OUT) == [], width


def test_a_long_name_pushes_nothing_out_of_a_page(
    site: Site, service: Service, enter: Callable[[str], Person]
) -> None:
    page = site.page
    page.set_default_timeout(SLOW)
    with pushing(service, enter("ada")) as model, service.client() as stranger:
        trade(model)
        link = shared(model, stranger, title="Long names")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            site.open(f"/s/{link.token}")
            fits(page, width)
        site.sign_in(path=f"/auth/signin?redirectUrl=%2F{model.project_id}")
        for name in ("View as cards", "View as a table"):
            page.get_by_role("button", name=name).click()
            expect(page.get_by_role("link", name=f"M{LONG}").first).to_be_visible(timeout=SLOW)
            for width in WIDTHS:
                fits(page, width)
        page.set_viewport_size({"width": 1440, "height": 900})
        menu = page.get_by_role("button", name="More actions for")
        expect(menu).to_be_in_viewport()
        curve = page.locator("tbody svg[viewBox='0 0 96 24']").bounding_box()
        assert curve is not None
        assert curve["width"] == 96
        site.open(f"/{model.project_id}/{model.id}/overview")
        expect(page.get_by_text("Positions", exact=True)).to_be_visible(timeout=SLOW)
        for width in WIDTHS:
            fits(page, width)
