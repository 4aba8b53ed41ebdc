"""Debian's Chromium for benches, and what is measured inside of it."""

import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from playwright.sync_api import CDPSession, Page, sync_playwright

CHROMIUM = "/usr/bin/chromium-headless-shell"
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-precise-memory-info",
)
PATIENCE = 120_000  # milliseconds

# Milliseconds from the start of the navigation until all of some things are there and painted.
_SHOWN = """async (wanted) => {
  const painted = (canvas) => canvas.width > 0 && canvas.getContext('2d')
      .getImageData(0, 0, canvas.width, canvas.height).data.some((v, at) => at % 4 === 3 && v);
  const isThere = (what) => {
    const found = document.querySelector(what);
    return found && (found.tagName !== 'CANVAS' || painted(found));
  };
  while (!wanted.every(isThere)) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return performance.now();
}"""
# Milliseconds of each frame while a box is scrolled by so many pixels a frame; it turns round
# where it stays stuck for half a second.
_SCROLLED = """async ([what, step, frames]) => {
  const box = document.querySelector(what), took = [];
  let [before, stuck, way, moved] = [performance.now(), 0, step, 0];
  for (let at = 0; at < frames; at += 1) {
    const top = box.scrollTop;
    box.scrollTop += way;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    took.push(now - before);
    before = now;
    const isStuck = Math.abs(box.scrollTop - top) < 1;
    stuck = isStuck ? stuck + 1 : 0;
    if (!isStuck) moved += Math.abs(way);
    if (stuck > 30) { way = -way; stuck = 0; }
  }
  return {took, moved};
}"""
# Keeps the milliseconds of each frame until it is stopped.
_FRAMES = """() => {
  const took = []; let before = performance.now(), goes = true;
  const frame = (now) => { took.push(now - before); before = now;
                           if (goes) requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
  window.framesDone = () => { goes = false; return took.slice(1); };
}"""
_SCRIPTS = """() => performance.getEntriesByType('resource')
  .filter((one) => new URL(one.name).pathname.endsWith('.js'))
  .reduce((sum, one) => sum + one.encodedBodySize, 0)"""


@contextmanager
def browser() -> Iterator[Page]:
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's does not start for root
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*FLAGS, *sandbox, "--js-flags=--expose-gc"]
        )
        try:
            page = opened.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(PATIENCE)
            yield page
        finally:
            opened.close()


def sign_in(page: Page, address: str, email: str, password: str) -> None:
    page.goto(f"{address}/auth/signin")
    page.get_by_label("Email address").fill(email)
    page.get_by_label("Password").fill(password)
    with page.expect_navigation():
        page.get_by_role("button", name="Sign in", exact=True).click()


def shown(page: Page, address: str, *wanted: str) -> float:
    """Seconds until what some selectors name is there."""
    page.goto(address, wait_until="commit")
    took: float = page.evaluate(_SHOWN, list(wanted))
    return took / 1000


def scripts(page: Page) -> int:
    """Bytes of packed script that the page which is open has loaded."""
    found: int = page.evaluate(_SCRIPTS)
    return found


class Scrolled(NamedTuple):
    frames: list[float]
    """Seconds from each to the next."""
    pixels: int
    work: float
    """Seconds of processor time of the page's own thread, which must be done within a frame."""

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.frames, n=20)[-1]

    @property
    def late(self) -> float:
        """The share of frames that missed one of sixty a second by half of it."""
        return sum(one > 0.025 for one in self.frames) / len(self.frames)


def scrolled(page: Page, what: str, step: int, frames: int) -> Scrolled:
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = _busy(session)
    found: dict[str, Any] = page.evaluate(_SCROLLED, [what, step, frames])
    work = (_busy(session) - before) / frames
    session.detach()
    return Scrolled([one / 1000 for one in found["took"]], int(found["moved"]), work)


def panned(page: Page, what: str, seconds: float) -> Scrolled:
    """A chart that a mouse drags to and fro and zooms, and leaves alone for a moment each time."""
    found = page.locator(what)
    found.scroll_into_view_if_needed()
    box = found.bounding_box()
    assert box is not None
    middle, top = box["x"] + box["width"] / 2, box["y"] + box["height"] / 3
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before, ends, pixels, way = _busy(session), time.monotonic() + seconds, 0, 1
    page.evaluate(_FRAMES)
    while time.monotonic() < ends:
        page.mouse.move(middle, top)
        page.mouse.down()
        for step in range(1, 31):
            page.mouse.move(middle + way * step * 10, top)
        page.mouse.up()
        page.mouse.wheel(0, -way * 120)
        page.wait_for_timeout(300)
        pixels, way = pixels + 300, -way if pixels % 900 == 0 else way
    frames: list[float] = page.evaluate("() => window.framesDone()")
    work = (_busy(session) - before) / len(frames)
    session.detach()
    return Scrolled([one / 1000 for one in frames], pixels, work)


def plain(page: Page, rows: int) -> str:
    """A page with that many rows and nothing that happens when they are scrolled; its box."""
    cells = "".join(f"<span>cell {number}</span>" for number in range(8))
    style = "height:36px;display:grid;grid-template-columns:repeat(8,1fr)"
    box = "height:600px;overflow:auto;font:14px sans-serif"
    row = f"<div style='{style}'>{cells}</div>"
    page.goto("about:blank")
    page.set_content(f"<div id=plain style='{box}'>{row * rows}</div>")
    return "#plain"


def _busy(session: CDPSession) -> float:
    found = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    seconds: float = found["TaskDuration"]
    return seconds


def heap(page: Page) -> float:
    """Megabytes of what is still in use."""
    used: float = page.evaluate("() => { gc(); gc(); return performance.memory.usedJSHeapSize; }")
    return used / 1e6
