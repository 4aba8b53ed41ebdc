"""`tapeline hold` and `halt --here` where they could not hold: at a server of a cluster."""

import pytest

from tapeline.runs.holding import holds
from tests.acceptance.conftest import Home

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("words", [["hold"], ["halt", "--here"]])
def test_a_server_whose_models_run_on_nodes_refuses_and_says_what_stops_them(
    used_home: Home, words: list[str]
) -> None:
    holds.mark_elsewhere(used_home.data, are_elsewhere=True)
    said = used_home.refused(*words, exit_code=1)
    assert "tapeline halt --all" in " ".join(said.split())
    assert holds.on_all(used_home.data) is None

    holds.mark_elsewhere(used_home.data, are_elsewhere=False)
    assert used_home.run(*words).returncode == 0
    assert holds.on_all(used_home.data) is not None


def test_a_server_whose_models_run_on_nodes_says_where_one_is_stopped(used_home: Home) -> None:
    holds.mark_elsewhere(used_home.data, are_elsewhere=True)
    said = " ".join(used_home.refused("stop", "--here", "k3vx8q", exit_code=1).split())
    holds.mark_elsewhere(used_home.data, are_elsewhere=False)
    assert "Stop this one with: tapeline stop k3vx8q." in said
    assert "on its node with: tapeline stop --here k3vx8q --data" in said
