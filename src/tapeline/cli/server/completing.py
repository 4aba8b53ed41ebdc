"""Names that a shell offers when Tab is pressed; none if anything fails."""

from tapeline.cli.terminal.command import Choices


def models(incomplete: str) -> list[str]:
    return [name for name in _names("models") if name.startswith(incomplete)]


def projects(incomplete: str) -> list[str]:
    return [name for name in _names("projects") if name.startswith(incomplete)]


def _names(what: str) -> list[str]:
    # Imported when Tab is pressed: most calls of the command complete nothing.
    from tapeline.cli.server.session import Session  # noqa: PLC0415

    try:
        session = Session(Choices())
        session.sign_in()
        found = session.models() if what == "models" else session.me["projects"]
        return [one["name"] for one in found]
    except Exception:  # noqa: BLE001 - a shell that completes must not print errors
        return []
