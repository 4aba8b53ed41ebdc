"""The pages' sources: types that are not stale, a lock for every platform, an honest stamp."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from tapeline.http import openapi
from tapeline.http.routes import ROUTES

ROOT = Path(__file__).parent.parent
WEB = ROOT / "web"


@pytest.fixture
def web() -> ModuleType:
    spec = importlib.util.spec_from_file_location("web", ROOT / "scripts" / "web.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_types_of_the_pages_are_those_of_the_api(web: ModuleType) -> None:
    first = (WEB / "src" / "api" / "schema.d.ts").read_text("utf-8").partition("\n")[0]
    made_from = f"// {web.fingerprint(openapi.document(ROUTES))}"
    assert first == made_from, "the API has changed: run `make types` and commit what it writes"


def test_the_lock_names_no_registry_and_lists_every_platform() -> None:
    text = (WEB / "package-lock.json").read_text("utf-8")
    assert '"resolved"' not in text
    assert "registry" not in text
    packages = json.loads(text)["packages"]
    for tool in ("@rolldown/binding", "@tailwindcss/oxide", "@biomejs/cli"):
        names = [name for name in packages if name.startswith(f"node_modules/{tool}-")]
        for platform in ("linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"):
            assert any(platform in name for name in names), f"{tool} for {platform}"


def test_every_version_is_exact() -> None:
    package = json.loads((WEB / "package.json").read_text("utf-8"))
    wanted = package["dependencies"] | package["devDependencies"] | package["overrides"]
    for name, version in wanted.items():
        assert re.fullmatch(r"(npm:typescript@)?\d+\.\d+\.\d+", version), name


def test_a_changed_source_changes_the_stamp_and_a_test_does_not(
    web: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "ROOT", tmp_path)
    one, two = tmp_path / "one.ts", tmp_path / "two.ts"
    one.write_text("1")
    before = web.stamp_of([one])
    assert web.stamp_of([one]) == before
    one.write_text("2")
    assert web.stamp_of([one]) != before
    two.write_text("")
    assert web.stamp_of([one, two]) != web.stamp_of([one])
    sources = web.sources()
    assert WEB / "package-lock.json" in sources
    assert not [path for path in sources if ".test." in path.name]


def test_back_end_work_can_leave_the_pages_out(
    web: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAPELINE_SKIP_WEB", "1")
    monkeypatch.setattr(web, "build", lambda: 1)
    assert web.main(["build"]) == 0


@pytest.mark.parametrize(
    ("said", "enough"),
    [("v20.19.0", True), ("v20.18.3", False), ("v22.11.0", False), ("v22.12.0", True),
     ("v24.1.0", True), ("v18.20.4", False)],
)  # fmt: skip
def test_a_node_that_is_too_old_is_not_used(
    web: ModuleType, tmp_path: Path, said: str, enough: bool
) -> None:
    node = tmp_path / "node"
    node.write_text(f"#!/bin/sh\necho {said}\n")
    node.chmod(0o755)
    assert web._is_new_enough(str(node)) is enough
