"""Draws the icons of the installed app from docs/pictures/mark.svg, with a browser:

    .venv/bin/python scripts/icons.py

Maskable icons have no corners of their own: systems cut them into any shape.
"""

import re
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
MARK = ROOT / "docs" / "pictures" / "mark.svg"
STATIC = ROOT / "src" / "tapeline" / "http" / "static"
ICONS = {"icon-192.png": 192, "icon-512.png": 512, "icon-maskable-512.png": 512}


def main() -> int:
    browser_path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    mark = MARK.read_text("utf-8")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for name, size in ICONS.items():
            page = browser.new_page(viewport={"width": size, "height": size})
            drawn = re.sub(r' rx="\d+"', "", mark) if "maskable" in name else mark
            page.set_content(f"<style>body{{margin:0}}svg{{display:block}}</style>{drawn}")
            page.screenshot(path=STATIC / name, omit_background=True)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
