"""A real node to compare with: one process reads all texts of all zones."""

import json
import shutil
import subprocess
from collections.abc import Sequence

import pytest

_SCRIPT = """
const readline = require("node:readline");
readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const { zone, texts } = JSON.parse(line);
  process.env.TZ = zone;
  console.log(JSON.stringify(texts.map((text) => Date.parse(text))));
});
"""


def dates_by_node(asked: Sequence[tuple[str, Sequence[str]]]) -> list[list[float | None]]:
    """For each zone and its texts what Date.parse() answers; NaN arrives as None."""
    node = shutil.which("node")
    if node is None:
        pytest.fail("The comparison needs a real node: apt-get install nodejs")
    lines = [json.dumps({"zone": zone, "texts": texts}) for zone, texts in asked]
    done = subprocess.run(
        [node, "-e", _SCRIPT], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]
