"""Where no sandbox can be had, models are refused, unless the operator says otherwise."""

import pytest

from tests.acceptance.conftest import Home
from tests.acceptance.traders import Trader, pythons
from tests.archives import zipped

pytestmark = pytest.mark.heavy


def test_where_no_sandbox_can_be_had_models_are_refused_and_the_reason_said(home: Home) -> None:
    # A world in which no more user namespaces can be made, as on hosts that forbid them.
    server = home.up_in(
        "unshare", "--user", "--map-root-user", "sh", "-c",
        'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"', "sh",
    )  # fmt: skip
    assert "cannot run on this machine" in server.said
    assert "max_user_namespaces" in server.said
    trader = Trader(server)
    files = {"model": ("m.zip", zipped())}
    refused = trader.post(
        "/model/deploy", 409, data={"createNew": "true", "name": "One"}, files=files
    )
    assert refused["code"] == "cannot_run_models"
    assert "max_user_namespaces" in refused["error"]
    kept = trader.post("/model/upload", data={"createNew": "true", "name": "One"}, files=files)
    assert kept["version"] == 1
    trader.client.close()
    server.end()


def test_running_without_a_sandbox_is_explicit_and_written_into_the_record(home: Home) -> None:
    server = home.up("--unsafe-no-sandbox", TAPELINE_PYTHONS=pythons()[0].path)
    assert "NOT SANDBOXED" in server.said
    trader = Trader(server)
    deployed = trader.deploy("import os\nprint('sees', os.path.exists('/root'))\n")
    run = trader.wait_for_end(deployed)
    assert (run["state"], run["confinement"]) == ("exited", "NOT SANDBOXED")
    assert "sees True" in trader.lines(deployed["modelId"])
    tested = trader.backtest("def backtest():\n    import tapeline_client\n    return {}\n")
    assert trader.wait_for_end(tested)["state"] == "exited", trader.backtest_lines(tested)
    trader.client.close()
    server.end()
