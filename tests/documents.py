"""The parts of docs/ that come from the code. `python -m tests.documents` writes them again."""

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from typer.core import TyperArgument, TyperOption

from tapeline import errors
from tapeline.cli import main
from tapeline.cli.terminal.command import Command
from tapeline.cli.terminal.lazily import LazyGroup
from tapeline.errors import Problem
from tapeline.http.core.endpoint import Access
from tapeline.http.events.openapi import KEYS
from tapeline.http.pages import checker as checker_page
from tapeline.http.pages import web_app
from tapeline.http.routes import ROUTES
from tapeline.http.wire.errors import status_of
from tapeline.models.archives import manifest as manifests
from tapeline.results.metrics.all_metrics import GROUPS
from tapeline.results.metrics.metric import Metric
from tapeline.results.metrics.of_benchmark import BENCHMARK
from tapeline.runs.environments.substitutes import KNOWN as KNOWN_SUBSTITUTES
from tapeline.setting_kinds import Allowed
from tapeline.settings import PREFIX, ROWS
from tapeline.tape.events.kinds import (
    BY_PATH,
    KINDS,
    LIFECYCLE,
    LOG,
    SEALED,
    USED_EXCHANGE,
    USED_SYMBOL,
)
from tapeline.watch.conditions import durations
from tapeline.watch.conditions.all_conditions import CONDITIONS
from tapeline.watch.conditions.condition import Option
from tests import older_clients

# Not installed: a distribution of its own. Pytest has it on its path; a bare Python has not.
sys.path.insert(0, str(Path(__file__).parent.parent / "client" / "src"))
import tapeline_client
from tapeline_client.events import Events

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"(<!-- from the code: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
ABOUT_MODELS = {LIFECYCLE, USED_SYMBOL, USED_EXCHANGE}
# In the order in which a route is looked for.
AREAS = {
    "The deployment API": ("/auth/", "/project/", "/model/"),
    "The view API: shared links": ("/api/shared/",),
    "The view API": ("/api/",),
    "The service itself": ("/",),
}
ABOUT_CONDITIONS = {
    "life": "A model's life",
    "silence": "Silence",
    "money": "Money",
    "exposure": "Exposure",
    "behaviour": "Behaviour",
    "platform": "The platform",
}
CALLERS = {
    Access.PUBLIC: "anyone",
    Access.ACCOUNT: "account",
    Access.READER: "account or key",
    Access.OPERATOR: "operator",
    Access.SHARED: "anyone with the link",
}


def settings() -> Iterator[str]:
    yield "| setting | variable | default | allowed | what it does |"
    yield "|---|---|---|---|---|"
    for name, row in ROWS.items():
        allowed: Allowed = row.metadata["allowed"]
        default = str(row.default).lower() if isinstance(row.default, bool) else row.default
        shown = f"`{default}`" if default != "" else "(empty)"
        sentence = row.metadata["help"]
        variable = PREFIX + name.upper()
        yield f"| `{name}` | `{variable}` | {shown} | {allowed.sentence} | {sentence} |"


def commands() -> Iterator[str]:
    group = main.command()
    assert isinstance(group, LazyGroup)
    for name, command in group.leaves("tapeline"):
        yield f"### `{name}`"
        yield ""
        yield (command.help or "").strip()
        yield ""
        shared = command.shared if isinstance(command, Command) else ()
        for parameter in command.params:
            if isinstance(parameter, TyperOption):
                flags = ", ".join([*parameter.opts, *parameter.secondary_opts])
                if parameter.name not in shared or parameter.name == "as_json":
                    yield f"- `{flags}`: {parameter.help}"
            elif isinstance(parameter, TyperArgument):
                yield f"- `{parameter.metavar or (parameter.name or '').upper()}`: {parameter.help}"
        yield ""
        yield "```console"
        examples = (command.epilog or "").replace(r"\[", "[").split("\n")[1:]
        yield from (f"$ {one.strip()}" for one in examples)
        yield "```"
        yield ""


def routes() -> Iterator[str]:
    left = list(ROUTES)
    for title, starts in AREAS.items():
        yield f"### {title}"
        yield ""
        yield "| route | who | what it does |"
        yield "|---|---|---|"
        for row in [one for one in left if one.path.startswith(starts)]:
            sentence = (row.act.__doc__ or "").strip().split("\n")[0]
            yield f"| `{row.method} {row.path}` | {CALLERS[row.access]} | {sentence} |"
            left.remove(row)
        yield ""
    assert not left, "a route in no area"


def events() -> Iterator[str]:
    yield "| route | must have | may have | what it is |"
    yield "|---|---|---|---|"
    for kind, (keys, required, sentence) in KEYS.items():
        paths = [path for path, found in BY_PATH.items() if found is kind]
        if not paths:
            continue  # written by the view API
        path = paths[0] if kind in ABOUT_MODELS else paths[-1 if kind is not LOG else 1]
        must = ", ".join(f"`{key}`" for key in required) or "(nothing)"
        may = ", ".join(f"`{key}`" for key in keys if key not in required) or "(nothing)"
        yield f"| `POST {path}` | {must} | {may} | {sentence} |"


def codes() -> Iterator[str]:
    yield "| status | code | message |"
    yield "|---|---|---|"
    found = [one for _, one in inspect.getmembers(errors, inspect.isclass)]
    problems = [one for one in found if issubclass(one, Problem) and one is not Problem]
    wire = [
        one for one in problems if not issubclass(one, errors.CannotStart | errors.InvalidSetting)
    ]
    for problem in sorted(wire, key=lambda one: (status_of(one), one.code())):
        yield f"| {status_of(problem)} | `{problem.code()}` | {problem().message} |"


def metrics() -> Iterator[str]:
    groups: dict[str, tuple[Metric[Any], ...]] = {**GROUPS, "Against a benchmark": BENCHMARK}
    for title, rows in groups.items():
        yield f"### {title}"
        yield ""
        yield "| name | shown as | type | what it says | formula |"
        yield "|---|---|---|---|---|"
        for row in rows:
            formula = row.formula.replace("|", "\\|")
            shown = f"{row.display_name} | {row.type} | {row.explanation} | {formula}"
            yield f"| `{row.name}` | {shown} |"
        yield ""


def manifest() -> Iterator[str]:
    yield "| key | default | meaning |"
    yield "|---|---|---|"
    for key, default, sentence in manifests.KEYS:
        yield f"| `{key}` | {default} | {sentence} |"


def kinds() -> Iterator[str]:
    yield "| number | kind | addresses | sealed | what it is |"
    yield "|---|---|---|---|---|"
    for kind in KINDS:
        paths = ", ".join(f"`{path}`" for path, found in BY_PATH.items() if found is kind)
        sealed = "by field" if kind in SEALED else "whole"
        yield f"| {kind.number} | `{kind.name}` | {paths} | {sealed} | {KEYS[kind][2]} |"


def conditions() -> Iterator[str]:
    for about, title in ABOUT_CONDITIONS.items():
        rows = [one for one in CONDITIONS if one.about == about]
        if not rows:
            continue
        yield f"## {title}"
        yield ""
        yield "| `when` | holds if | limit in | options | for |"
        yield "|---|---|---|---|---|"
        for row in rows:
            default = "" if row.default is None else f" (default {row.default:g})"
            units = f"{', '.join(row.units)}{default}" if row.units else "none"
            options = "; ".join(_option(one) for one in row.options) or "none"
            scopes = "as one" if row.of_each is None else f"by each {row.of_each}"
            where = ", ".join(one for one in ("model", "project", "all") if one in row.scopes)
            several = f"; a project {scopes}" if "project" in row.scopes else ""
            yield f"| `{row.name}` | {row.help} | {units} | {options} | {where}{several} |"
        yield ""


def _option(one: Option) -> str:
    usual = durations.written(one.default) if isinstance(one.default, float) else one.default
    default = " (required)" if one.required else f" (`{usual}`)" if usual else ""
    return f"`{one.name}`{default}: {one.help}"


def client_events() -> Iterator[str]:
    yield from _functions([name for name in tapeline_client.__all__ if hasattr(Events, name)])


def client_rest() -> Iterator[str]:
    rest = [name for name in tapeline_client.__all__ if not hasattr(Events, name)]
    yield from _functions([name for name in rest if not name.startswith("__")])


def _functions(names: list[str]) -> Iterator[str]:
    for name in names:
        found = getattr(tapeline_client, name)
        yield f"### `{name}`"
        yield ""
        if not (inspect.isclass(found) and issubclass(found, Exception)):
            yield "```text"
            yield _signature(name, found)
            yield "```"
            yield ""
        yield " ".join((inspect.getdoc(found) or "").split("\n\n")[0].split())
        yield ""


def _signature(name: str, found: Callable[..., object]) -> str:
    """As it is called: without types, and with what may be left out as dots."""
    parameters = [
        one.replace(annotation=one.empty, default=one.default if _is_plain(one.default) else ...)
        for one in inspect.signature(found).parameters.values()
    ]
    shown = f"{name}{inspect.Signature(parameters)}".replace("Ellipsis", "...")
    return shown if len(shown) < 100 else shown.replace(", ", ",\n    ").replace("(", "(\n    ", 1)


def _is_plain(default: object) -> bool:
    kinds_of_text = (str, int, float, bool, type(None))
    return default is inspect.Parameter.empty or isinstance(default, kinds_of_text)


def substitutes() -> Iterator[str]:
    yield "| package | instead | why |"
    yield "|---|---|---|"
    for one in KNOWN_SUBSTITUTES:
        yield f"| `{one.package}` | `{one.instead}` | {one.why} |"


def checker() -> Iterator[str]:
    """Of the file as it is built; tests/test_checker_file.py builds it anew."""
    built = (web_app.BUILT / checker_page.NAME).read_bytes()
    yield "```"
    yield f"{sha256(built).hexdigest()}  {checker_page.NAME}"
    yield "```"


BLOCKS: dict[str, Callable[[], Iterator[str]]] = {
    "older_clients": older_clients.table,
    "settings": settings,
    "substitutes": substitutes,
    "commands": commands,
    "routes": routes,
    "events": events,
    "codes": codes,
    "metrics": metrics,
    "conditions": conditions,
    "manifest": manifest,
    "kinds": kinds,
    "client_events": client_events,
    "client_rest": client_rest,
    "checker": checker,
}


def filled(page: str) -> str:
    """A page with its generated blocks as the code has them now."""
    return BLOCK.sub(
        lambda found: found[1] + "\n".join(BLOCKS[found[2]]()).strip() + "\n" + found[3], page
    )


def write() -> None:
    for file in DOCS.rglob("*.md"):
        page = file.read_text("utf-8")
        if filled(page) != page:
            file.write_text(filled(page), "utf-8")


if __name__ == "__main__":
    write()
