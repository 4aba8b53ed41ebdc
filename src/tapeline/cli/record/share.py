"""`tapeline share`: links that show a record to people without an account."""

import json
import sys
import time
from typing import Annotated, Any

import typer

from tapeline.cli.record.logs import UNITS, moment_of
from tapeline.cli.server.options import Model, ModelOption, Yes
from tapeline.cli.server.session import Session
from tapeline.cli.server.wire import json_of
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import command
from tapeline.cli.terminal.confirming import ask_secret, confirm
from tapeline.cli.terminal.failures import Misused, NotFound

NEVER = "never"
HIDING = {
    "percent_only": "percent only",
    "hide_symbols": "symbols hidden",
    "hide_sizes": "sizes hidden",
    "hide_logs": "logs hidden",
}

Link = Annotated[str, typer.Argument(help="Its id; see share list.", show_default=False)]
Title = Annotated[str | None, typer.Option("--title", help="The title of the page.")]
PercentOnly = Annotated[
    bool | None,
    typer.Option(
        "--percent-only/--with-amounts", help="Show percentages only: no amounts, no sizes."
    ),
]
HideSymbols = Annotated[
    bool | None,
    typer.Option(
        "--hide-symbols/--show-symbols",
        help="Show S1, S2… instead of symbols; no prices, no sizes.",
    ),
]
HideSizes = Annotated[
    bool | None,
    typer.Option("--hide-sizes/--show-sizes", help="The same as --percent-only."),
]
HideLogs = Annotated[
    bool | None, typer.Option("--hide-logs/--show-logs", help="Hide log lines and annotations.")
]
Delay = Annotated[
    int | None, typer.Option("--delay", metavar="HOURS", help="Hide this many of the latest hours.")
]
Base = Annotated[
    float | None,
    typer.Option("--base", help="The capital of a live model, to show its returns."),
]
Expires = Annotated[
    str | None,
    typer.Option("--expires", help="When the link expires: 12h, 7d, 4w, or 2026-12-31."),
]
PasswordStdin = Annotated[
    bool,
    typer.Option(
        "--password-stdin", help="Protect the link with a password, read from standard input."
    ),
]


@command(
    "tapeline share new Trend",
    "tapeline share new Trend --percent-only --hide-symbols --delay 24 --expires 30d",
    "tapeline share new Trend --backtest 8xk2… --title 'Trend on majors'",
    "tapeline share new Trend --password-stdin < password.txt",
)
def new(
    context: typer.Context,
    model: Model = None,
    backtest: Annotated[
        str | None, typer.Option("--backtest", help="One backtest instead of the live record.")
    ] = None,
    title: Title = None,
    percent_only: PercentOnly = None,
    hide_symbols: HideSymbols = None,
    hide_sizes: HideSizes = None,
    hide_logs: HideLogs = None,
    delay: Delay = None,
    base: Base = None,
    expires: Expires = None,
    password_stdin: PasswordStdin = False,
) -> None:
    """Make a link to a model's record; its address is shown once."""
    session = Session.of(context)
    found = session.model(model)
    chosen = _chosen(percent_only, hide_symbols, hide_sizes, hide_logs, delay, base)
    made = session.wire.ask(
        "POST",
        f"/api/models/{found['id']}/shares",
        json_of(
            {
                **chosen,
                "backtest_id": backtest,
                "title": title,
                "expires_at": _end(expires),
                "password": _password() if password_stdin else None,
            }
        ),
    )
    frame = embed(made["embed_url"])
    if session.choices.as_json:
        session.screen.json({**made, "embed": frame})
        return
    session.screen.say(f"link   {made['url']}")
    session.screen.say(f"embed  {frame}")
    session.screen.note(
        f"Anyone with the link can see: {_words(made)}. The address is shown only once. Revoke it"
        f" with: tapeline share rm {made['id']} --model {found['id']}",
        "yellow",
    )


@command("tapeline share list", "tapeline share list Trend --json")
def list_shares(context: typer.Context, model: Model = None) -> None:
    """List a model's links, what they show and how often they were opened."""
    session = Session.of(context)
    found = session.model(model)
    items = session.wire.get(f"/api/models/{found['id']}/shares")["items"]
    if session.choices.as_json:
        session.screen.json(items)
        return
    session.screen.table(
        ["link", "~shows", "~title", ">views", "?seen", "until", "?made"],
        [
            [
                one["id"],
                _words(one),
                one["title"] or "",
                one["views"],
                screen.ago(one["last_viewed_at"]) if one["last_viewed_at"] else "",
                _until(one),
                screen.ago(one["created_at"]),
            ]
            for one in items
        ],
        empty=f"{found['name']} has no links. Make one with: tapeline share new",
    )


@command(
    "tapeline share change h4wz8k2mwq7x9vbn --hide-sizes --expires 7d",
    "tapeline share change h4wz8k2mwq7x9vbn --model Trend --with-amounts --expires never",
)
def change(
    context: typer.Context,
    link: Link,
    model: ModelOption = None,
    title: Title = None,
    percent_only: PercentOnly = None,
    hide_symbols: HideSymbols = None,
    hide_sizes: HideSizes = None,
    hide_logs: HideLogs = None,
    delay: Delay = None,
    base: Base = None,
    expires: Expires = None,
    password_stdin: PasswordStdin = False,
    no_password: Annotated[
        bool, typer.Option("--no-password", help="Remove its password.")
    ] = False,
) -> None:
    """Change what a link shows; its address stays."""
    session = Session.of(context)
    found = session.model(model)
    changes = _chosen(percent_only, hide_symbols, hide_sizes, hide_logs, delay, base)
    changes |= {} if title is None else {"title": title or None}
    changes |= {} if expires is None else {"expires_at": _end(expires)}
    changes |= {"password": None} if no_password else {}
    changes |= {"password": _password()} if password_stdin else {}
    if not changes:
        raise Misused("No change was given. Try: tapeline share change --help")
    path = f"/api/models/{found['id']}/shares/{link}"
    # Null has a meaning here: it removes the value.
    changed = session.wire.ask("PATCH", path, json.dumps(changes).encode())
    session.screen.done(f"{link} now shows: {_words(changed)}.", changed)


@command("tapeline share rm h4wz8k2mwq7x9vbn", "tapeline share rm --all --model Trend --yes")
def remove(
    context: typer.Context,
    link: Annotated[
        str | None, typer.Argument(help="Its id; see share list.", show_default=False)
    ] = None,
    model: ModelOption = None,
    every: Annotated[bool, typer.Option("--all", help="Every link of the model.")] = False,
    yes: Yes = False,
) -> None:
    """Revoke a link: it stops working at once."""
    if (link is None) == (not every):
        raise Misused("Name a link, or use --all. List them with: tapeline share list")
    session = Session.of(context)
    found = session.model(model)
    path = f"/api/models/{found['id']}/shares"
    gone = [link] if link else [one["id"] for one in session.wire.get(path)["items"]]
    if every:
        confirm(session.screen, f"Revoke all {len(gone)} links of {found['name']}?", yes=yes)
    for one in gone:
        try:
            session.wire.ask("DELETE", f"{path}/{one}")
        except NotFound:
            raise NotFound(
                f"{found['name']} has no link {one}. List them with: tapeline share list"
            ) from None
    what = f"{gone[0]} is" if link else f"{len(gone)} links are"
    session.screen.done(f"{what} revoked.", {"status": "success", "revoked": gone})


def embed(url: str) -> str:
    """HTML that embeds the link in another page."""
    return f'<iframe src="{url}" width="100%" height="640" style="border:0"></iframe>'


def _chosen(
    percent_only: bool | None,
    hide_symbols: bool | None,
    hide_sizes: bool | None,
    hide_logs: bool | None,
    delay: int | None,
    base: float | None,
) -> dict[str, Any]:
    said = {
        "percent_only": percent_only,
        "hide_symbols": hide_symbols,
        "hide_sizes": hide_sizes,
        "hide_logs": hide_logs,
        "delay_hours": delay,
        "base": base,
    }
    return {name: value for name, value in said.items() if value is not None}


def _end(text: str | None) -> float | None:
    """`7d` from now, or a future date."""
    if text is None or text == NEVER:
        return None
    if text[-1:] in UNITS and text[:-1].replace(".", "", 1).isdigit():
        return time.time() + float(text[:-1]) * UNITS[text[-1]]
    try:
        return moment_of(text, time.time())
    except Misused:
        raise Misused(
            f"--expires {text} is not a time. Write 12h, 7d, 4w, 2026-12-31, or never."
        ) from None


def _password() -> str:
    if sys.stdin.isatty():
        return ask_secret("Password")
    said = sys.stdin.readline().rstrip("\r\n")
    if not said:
        raise Misused("Standard input is empty. Send the password there.")
    return said


def _words(share: dict[str, Any]) -> str:
    what = f"backtest {share['backtest_id'][:8]}" if share["backtest_id"] else "live record"
    hidden = [words for name, words in HIDING.items() if share[name]]
    late = [f"{share['delay_hours']} h late"] if share["delay_hours"] else []
    locked = ["password"] if share["has_password"] else []
    return ", ".join([what, *hidden, *late, *locked])


def _until(share: dict[str, Any]) -> str:
    if share["expires_at"] is None:
        return NEVER
    return "expired" if share["is_expired"] else screen.moment(share["expires_at"])
