"""Commands and code as a page of docs/ has them, to be run word for word."""

import re
import subprocess
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def commands_of(page: str) -> list[str]:
    """What stands behind a `$` in the console blocks of a page, in order."""
    blocks = code_of(page, "console")
    lines = "".join(blocks).replace("\\\n", "").splitlines()
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def code_of(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text("utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


class Shell:
    """A shell in which one command is typed after the other: where one is, and what was exported,
    lasts."""

    def __init__(self, at: Path, environment: dict[str, str], notes: Path) -> None:
        self._at = at
        self._environment = environment
        self._notes = notes

    def types(self, command: str, stdin: str = "", seconds: float = 120) -> str:
        """What the command prints on standard output; it must work."""
        return self._run(command, stdin, seconds, subprocess.PIPE)

    def shows(self, command: str, stdin: str = "", seconds: float = 120) -> str:
        """What a terminal shows of the command, remarks included; it must work."""
        return self._run(command, stdin, seconds, subprocess.STDOUT)

    def _run(self, command: str, stdin: str, seconds: float, errors: int) -> str:
        script = f"set -e\n{command}\npwd > {self._notes}\n"
        ended = subprocess.run(
            ["bash", "-c", script],
            cwd=self._at,
            env=self._environment,
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            timeout=seconds,
            check=False,
        )
        assert ended.returncode == 0, f"$ {command}\n{ended.stdout}\n{ended.stderr}"
        self._at = Path(self._notes.read_text().strip())
        return ended.stdout
