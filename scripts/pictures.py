"""Makes the pictures of docs/pictures: starts a demo of its own, waits until it has traded for some
minutes, and opens its pages in Debian's Chromium.

    scripts/pictures.py [--minutes 5] [--only live,share] [--into FOLDER]
"""

import argparse
import io
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import httpx
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = "/usr/bin/chromium-headless-shell"
LARGEST = 200_000  # bytes of a picture: people open the README on phones, too
BACKTESTS = 5  # of the demo
PATIENCE = 180.0  # seconds until they are done
SETTLED = 2.5  # seconds in which a page draws its charts


@dataclass(frozen=True)
class Demo:
    address: str
    password: str
    project: str
    link: str
    model: str
    backtests: list[str]

    def page(self, path: str) -> str:
        return f"{self.address}/{self.project}/{self.model}/{path}"

    def tear_sheet(self) -> str:
        return f"{self.address}/api/models/{self.model}/backtests/{self.backtests[2]}/tear-sheet"


@dataclass(frozen=True)
class Picture:
    name: str
    opened: Callable[[Demo], str]
    size: tuple[int, int] = (1280, 860)
    scheme: Literal["light", "dark"] = "light"
    before: Callable[[Page], None] = Page.bring_to_front


def _share(page: Page) -> None:
    page.get_by_role("button", name="Share").first.click()


PHONE = (390, 844)
PICTURES = (
    Picture("live", lambda demo: demo.page("overview")),
    Picture("live-dark", lambda demo: demo.page("overview"), scheme="dark"),
    Picture("prices", lambda demo: demo.page("prices?symbol=BTC-USD&interval=1h")),
    Picture("trades", lambda demo: demo.page("trades")),
    Picture("portfolio", lambda demo: f"{demo.address}/{demo.project}/portfolio"),
    Picture("backtest", lambda demo: demo.page(f"{demo.backtests[2]}/backtest")),
    Picture("compare", lambda demo: demo.page(f"backtests/compare?ids={_three(demo)}")),
    Picture("tear-sheet", lambda demo: demo.tear_sheet(), size=(1120, 1130)),
    Picture("share", lambda demo: demo.page("overview"), before=_share),
    Picture("live-phone", lambda demo: demo.page("overview"), size=PHONE),
    Picture("shared-phone", lambda demo: demo.link, size=PHONE),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="how long the demo trades first")
    parser.add_argument("--only", default="", help="names of pictures, with commas between them")
    parser.add_argument("--into", type=Path, default=ROOT / "docs" / "pictures")
    chosen = parser.parse_args()
    names = set(filter(None, chosen.only.split(",")))
    with tempfile.TemporaryDirectory() as data, _demo(data) as demo, _browser() as browser:
        time.sleep(chosen.minutes * 60)
        for picture in PICTURES:
            if not names or picture.name in names:
                _make(browser, demo, picture, chosen.into / f"{picture.name}.png")


@contextmanager
def _demo(data: str) -> Iterator[Demo]:
    command = [sys.executable, "-m", "tapeline", "up", "--demo", "--port", "0", "--data", data]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield _ready(process)
        finally:
            process.send_signal(2)  # as Ctrl-C: the models stop with it


def _ready(process: "subprocess.Popen[str]") -> Demo:
    """The demo, once its backtests are done."""
    said = ""
    assert process.stdout is not None
    while "Ctrl-C stops it" not in said:
        line = process.stdout.readline()
        if not line:
            raise SystemExit("the demo did not start; see above")
        said += line
    address, password, project, link = (
        _found(said, one)
        for one in (r"ready at (\S+)", r"password (\S+)", r"Demo \((\w+)\)", r"shared +(\S+)")
    )
    given = {"email": "demo@tapeline.local", "password": password}
    token = httpx.post(f"{address}/auth/signin", json=given).json()["idToken"]
    with httpx.Client(base_url=address, headers={"token": token}, timeout=30) as client:
        items = client.get(f"/api/projects/{project}/models").json()["items"]
        model = next(one["id"] for one in items if one["name"].startswith("Trend"))
        backtests = _wait(lambda: _done(client, model))
    return Demo(address, password, project, link, model, backtests)


def _found(text: str, pattern: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise SystemExit(f"the demo did not say {pattern}; can models run on this machine?")
    return match[1]


def _done(client: httpx.Client, model: str) -> list[str]:
    """The backtests in the order in which they were asked for, when all of them have ended."""
    items: list[dict[str, Any]] = client.get(f"/api/models/{model}/backtests").json()["items"]
    ended = [one["backtest_id"] for one in reversed(items) if one["status"]]
    return ended if len(ended) == BACKTESTS else []


def _wait(look: Callable[[], list[str]]) -> list[str]:
    until = time.monotonic() + PATIENCE
    while not (found := look()):
        if time.monotonic() > until:
            raise SystemExit("the demo's backtests did not end")
        time.sleep(0.5)
    return found


def _three(demo: Demo) -> str:
    return ",".join(demo.backtests[2:])


@contextmanager
def _browser() -> Iterator[Browser]:
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's does not start for root
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=sandbox)
        yield browser
        browser.close()


def _make(browser: Browser, demo: Demo, picture: Picture, file: Path) -> None:
    width, height = picture.size
    with browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=2 if picture.size == PHONE else 1,
        color_scheme=picture.scheme,
        timezone_id="UTC",
    ) as context:
        page = _signed_in(context, demo)
        page.goto(picture.opened(demo))
        page.wait_for_timeout(SETTLED * 1000)
        picture.before(page)
        page.wait_for_timeout(SETTLED * 1000)
        size = _write(page.screenshot(), file)
    print(f"{file.name}: {size / 1000:.0f} kB")
    if size > LARGEST:
        raise SystemExit(f"{file.name} has more than {LARGEST / 1000:.0f} kB")


def _signed_in(context: BrowserContext, demo: Demo) -> Page:
    given = {"email": "demo@tapeline.local", "password": demo.password}
    page = context.new_page()
    page.goto(f"{demo.address}/auth/signin")
    for name, value in given.items():
        page.fill(f"input[name={name}]", value)
    page.press("input[name=password]", "Enter")
    page.wait_for_url(lambda url: "signin" not in url)
    return page


def _write(png: bytes, file: Path) -> int:
    """With 256 colours a page looks the same and takes a third."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    few = image.quantize(256, dither=Image.Dither.NONE)
    few.save(file, optimize=True)
    return file.stat().st_size


if __name__ == "__main__":
    main()
