"""The checker of records is one file, and the same sources give the same bytes."""

import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from tapeline.http.pages import checker

ROOT = Path(__file__).parent.parent


def test_built_anew_it_has_the_hash_in_the_documentation(tmp_path: Path) -> None:
    build = ["npm", "run", "build-checker", "--silent", "--", "--outDir", str(tmp_path)]
    subprocess.run([sys.executable, ROOT / "scripts" / "web.py", *build], check=True)
    made = (tmp_path / checker.NAME).read_bytes()
    documented = (ROOT / "docs" / "checking-a-record.md").read_text("utf-8")
    assert sha256(made).hexdigest() in documented, "run `python -m tests.documents`"
    assert [file.name for file in tmp_path.iterdir()] == [checker.NAME], "it needs another file"


def test_it_asks_for_nothing_else_and_its_policy_says_so() -> None:
    text = (ROOT / "web" / checker.NAME).read_text("utf-8")
    loaded = re.findall(r'(?:src|href)="([^"]*)"', text)
    assert loaded == ["data:,", "/src/checker/page/main.ts"]
    sources = "\n".join(
        file.read_text("utf-8") for file in (ROOT / "web" / "src" / "checker").rglob("*.ts")
    )
    assert "crypto.subtle" not in sources, "it is absent on plain HTTP"
