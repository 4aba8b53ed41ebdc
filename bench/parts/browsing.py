"""Debian's Chromium for benches, and what is measured inside of it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
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


def scrolled(page: Page, what: str, step: int, frames: int) -> tuple[list[float], int]:
    """Seconds of each frame, and the pixels it went."""
    found: dict[str, Any] = page.evaluate(_SCROLLED, [what, step, frames])
    return [one / 1000 for one in found["took"]], int(found["moved"])


def processor() -> float:
    """Seconds of processor time that our pages have used so far, however busy the machine is."""
    facts: dict[int, tuple[int, int, bool]] = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            is_page = b"--type=renderer" in (process / "cmdline").read_bytes()
            facts[int(process.name)] = int(fields[1]), int(fields[11]) + int(fields[12]), is_page
    ticks = sum(used for pid, (_, used, is_page) in facts.items() if is_page and _ours(pid, facts))
    return ticks / os.sysconf("SC_CLK_TCK")


def _ours(pid: int, facts: dict[int, tuple[int, int, bool]]) -> bool:
    """Whether we are among its ancestors: others may have browsers of their own here."""
    while pid in facts and pid != os.getpid():
        pid = facts[pid][0]
    return pid == os.getpid()


def heap(page: Page) -> float:
    """Megabytes of what is still in use."""
    used: float = page.evaluate("() => { gc(); gc(); return performance.memory.usedJSHeapSize; }")
    return used / 1e6
