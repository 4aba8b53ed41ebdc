"""The client's page tells the truth: its code runs, and it names everything there is."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
import tapeline_client

from tapeline.tape.events.kinds import BY_PATH
from tests.client.test_killed import environment
from tests.pushing import Model
from tests.waiting import A_PROGRAM

PAGE = (Path(__file__).parents[2] / "docs" / "client.md").read_text("utf-8")


@pytest.mark.heavy
def test_the_code_of_the_page_runs(model: Model, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) >= 4
    script = tmp_path / "page.py"
    # A slow machine must not lose the last events.
    patience = "import tapeline_client\ntapeline_client.default_client()._exit_timeout = 60.0"
    script.write_text("\n".join([patience, *blocks]))
    variables = environment(model.service.address, model.headers, tmp_path / "state")
    ended = subprocess.run(
        [sys.executable, str(script)], env=variables, capture_output=True, text=True, check=False,
        cwd=tmp_path, timeout=A_PROGRAM,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "hello\n1\n"
    if "/v1/live/mark-price" in BY_PATH:
        assert ended.stderr == ""
    ids = {order["id"] for order in model.items("/orders")}
    assert ids == {"42", "43", "44", "45", "46"}
    assert model.get("/backtests/b1")["status"]["successful"]
    lines = [body["line"] for body in model.bodies() if "line" in body]
    assert {"hello", "position is 0.5", "from a coroutine"} <= set(lines)


def test_the_page_names_everything() -> None:
    for name in tapeline_client.__all__:
        assert name.startswith("__") or re.search(rf"\b{name}\b", PAGE), name
    for option in inspect.signature(tapeline_client.Client).parameters:
        assert f"`{option}`" in PAGE, option


def test_every_default_of_the_page_is_the_codes() -> None:
    parameters = inspect.signature(tapeline_client.Client).parameters
    megabyte = 1024 * 1024
    for name, said in re.findall(r"^\| `(\w+)` \| ([^|]+) \|", PAGE, re.MULTILINE):
        default = parameters[name].default
        if said.endswith(" MB"):
            assert default == int(said.removesuffix(" MB")) * megabyte
        elif default is not None:
            assert float(said) == default if said[0].isdigit() else said == str(default)
