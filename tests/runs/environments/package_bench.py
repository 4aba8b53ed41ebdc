"""Where environments are made and looked at."""

from pathlib import Path

from tapeline import clock as clocks
from tapeline.clock import Clock, Moment
from tapeline.runs.environments.cache import Environment, Environments, Wanted
from tapeline.runs.environments.install_boxes import Installer
from tapeline.runs.environments.interpreters import Interpreter
from tests.runs.sandbox.boxes import Done, install, run_inside

RUNTIME = Path(__file__).parents[3] / "runtime"


class Bench:
    """An Environments with a clock to turn and a model to write requirements for."""

    def __init__(self, folder: Path, index_url: str, python: Interpreter) -> None:
        self.passed = 0.0
        self.python = python
        self.model = folder / "model"
        self.model.mkdir()
        self.folder = folder / "environments"
        self.open(index_url)

    def open(
        self,
        index_url: str,
        substitutes: dict[str, str] | None = None,
        bounds: dict[str, str] | None = None,
    ) -> None:
        installer = Installer(
            runtime=RUNTIME, index=index_url, substitutes=substitutes or {}, bounds=bounds or {}
        )
        self.made = Environments(self.folder, installer=installer, clock=Clock(self._read))
        self.made.start()

    def _read(self) -> Moment:
        boot, wall = clocks.read()
        return Moment(boot + self.passed, wall + self.passed)

    def wanted(
        self,
        text: str | None,
        lock: str | None = None,
        archive: str = "one",
        project: str = "theirs",
    ) -> Wanted:
        file = None
        if text is not None:
            file = self.model / "requirements.txt"
            file.write_text(text)
        return self.made.wanted(
            self.python, file, self.model, lock, archive=archive, project=project
        )

    def install(self, text: str | None, lock: str | None = None) -> tuple[Environment, Wanted]:
        wanted = self.wanted(text, lock)
        environment, output = install(self.made, wanted)
        assert environment, output
        return environment, wanted

    def fail(self, text: str) -> str:
        environment, output = install(self.made, self.wanted(text))
        assert environment is None
        assert "Traceback" not in output
        return output


def imports(environment: Environment, wanted: Wanted, module: str) -> Done:
    return run_inside(environment, wanted, environment.python, "-c", f"import {module}")
