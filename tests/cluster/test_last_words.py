"""What the process that speaks with Ray leaves behind when it ends without a word to the server."""

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from tapeline import descriptors
from tapeline.runs.cluster import last_words
from tapeline.runs.cluster.bridge import LOG, Bridge, CannotReach

# As Ray 2.60 writes it when it may not write into its own folder; most lines of the traces left out
ABORTED = """\
[2026-11-18 06:33:37,566 W 28888 28888] network_util.cc:330: Failed to determine local IP
[2026-11-18 06:33:37,720 E 28888 28888] logging.cc:118: Unhandled exception: N6spdlog9spdlog_exE. \
what(): Failed opening file /tmp/ray/event.log for writing: Permission denied \
/lib/python3.11/site-packages/ray/_raylet.so(+0x16e6778) [0xffffa7206778] ray::operator<<()
/opt/tapeline/bin/python(_start+0x30) [0x5cdaf0] _start

[2026-11-18 06:33:37,729 E 28888 28888] logging.cc:125: Stack trace:
 /lib/python3.11/site-packages/ray/_raylet.so(+0x16e6778) [0xffffa7206778] ray::operator<<()
*** SIGABRT received at time=1794983617 on cpu 0 ***
PC: @     0xffffa7f23c18  (unknown)  (unknown)
[2026-11-18 06:33:37,777 E 28888 28888] logging.cc:474: *** SIGABRT received at time=1794983617 ***
[2026-11-18 06:33:37,777 E 28888 28888] logging.cc:474: PC: @     0xffffa7f23c18  (unknown)
[2026-11-18 06:33:37,781 E 28888 28888] logging.cc:474:     @     0xffffa7eda8ac         64  raise
Fatal Python error: Aborted

Extension modules: msgpack._cmsgpack, ray._raylet (total: 12)
"""


def test_a_process_that_ends_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ray.py").write_text("raise RuntimeError('This Ray does not work.')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    log = tmp_path / LOG
    log.write_text("what an earlier process said")
    bridge = Bridge("127.0.0.1:9", tmp_path)
    with pytest.raises(CannotReach) as lost:
        bridge.nodes()
    bridge.close()
    assert lost.value.message == bridge.trouble()
    assert lost.value.message == (
        "Ray at 127.0.0.1:9 cannot be reached: the process that speaks with it has ended."
        f" {log} says: RuntimeError: This Ray does not work."
    )
    assert "earlier" not in log.read_text()


def test_its_words_are_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ray.py").write_text("raise SystemExit")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    bridge = Bridge("127.0.0.1:9", tmp_path)
    with pytest.raises(CannotReach, match=r"has ended\.$"):
        bridge.nodes()
    bridge.close()
    assert (tmp_path / LOG).stat().st_mode & 0o777 == 0o600


def test_a_folder_that_cannot_be_written_keeps_nobody_from_ray(tmp_path: Path) -> None:
    bridge = Bridge("127.0.0.1:9", tmp_path / "missing")
    with pytest.raises(CannotReach, match="Connection refused"):
        bridge.nodes()
    bridge.close()


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        (
            ABORTED,
            "Unhandled exception: N6spdlog9spdlog_exE. what(): Failed opening file"
            " /tmp/ray/event.log for writing: Permission denied",
        ),
        ("*** SIGSEGV received ***\nFatal Python error: Segmentation fault\n\nExtension modules: a",
         "Fatal Python error: Segmentation fault"),
        ("Traceback …\nImportError: no\n\n", "ImportError: no"),
        ("", ""),
    ],
)  # fmt: skip
def test_the_reason_is_found_among_traces(written: str, reason: str) -> None:
    assert last_words.of(written) == reason


def test_a_process_that_ends_is_heard_also_by_a_server_with_many_descriptors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ray.py").write_text("raise RuntimeError('This Ray does not work.')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    descriptors.raise_limit()
    with ExitStack() as taken:
        for _ in range(1024):
            taken.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        bridge = Bridge("127.0.0.1:9", tmp_path)
        with pytest.raises(CannotReach, match="This Ray does not work"):
            bridge.nodes()
        bridge.close()
