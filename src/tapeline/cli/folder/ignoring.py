"""What a folder's own ignore files leave out of an upload, read the way git reads them."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tapeline.cli.terminal.failures import Failure

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# In one folder the later file wins, so that ours can bring back what git leaves out.
NAMES = (".gitignore", ".tapelineignore")


class Rules:
    """The ignore files of one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def verdict(self, path: Path, *, is_folder: bool) -> tuple[bool, str] | None:
        """Whether a path is left out and by which file; None when no line is about it."""
        relative = path.relative_to(self.folder).as_posix() + ("/" if is_folder else "")
        for name, spec in reversed(self._specs):
            found = spec.check_file(relative)
            if found.include is not None:
                return found.include, name
        return None

    @cached_property
    def _specs(self) -> list[tuple[str, "GitIgnoreSpec"]]:
        there = [self.folder / name for name in NAMES if (self.folder / name).is_file()]
        return [(file.name, _spec(file)) for file in there]


class Ignored:
    """The rules that hold in a folder: its own, and those of the folders around it up to the root
    of the git repository it is in."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._rules: dict[Path, Rules] = {}
        self._top = _repository(self._folder) or self._folder

    def by(self, path: str, *, is_folder: bool) -> str | None:
        """The name of the file that leaves this path out; None when it is part of the model."""
        whole = self._folder / path
        for folder in whole.parents:
            verdict = self._of(folder).verdict(whole, is_folder=is_folder)
            if verdict is not None:
                is_out, name = verdict
                return name if is_out else None
            if folder == self._top:
                break
        return None

    def _of(self, folder: Path) -> Rules:
        if folder not in self._rules:
            self._rules[folder] = Rules(folder)
        return self._rules[folder]


def _repository(folder: Path) -> Path | None:
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)


def _spec(file: Path) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - most folders have no such file

    try:
        return GitIgnoreSpec.from_lines(file.read_text("utf-8-sig").splitlines())
    except (OSError, ValueError) as error:
        raise Failure(f"{file} cannot be read: {error}") from error
