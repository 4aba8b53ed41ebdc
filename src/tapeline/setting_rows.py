"""Each row is a setting: its name, its default, the allowed values and a sentence for the docs."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from tapeline import logs
from tapeline.setting_kinds import (
    ADDRESSES,
    ANY_TEXT,
    BACKUPS,
    BLOBS,
    DATABASE,
    EXCHANGE,
    FOLDER,
    HOST_AND_PORT,
    MORE_PLANS,
    ORIGIN,
    PATH,
    PLANS,
    PUBLIC_KEYS,
    REACH,
    SWITCH,
    TEXT,
    Allowed,
    one_of,
    whole,
)

SignUp = Literal["open", "invite", "closed"]


def _row(default: Any, allowed: Allowed, help_sentence: str) -> Any:
    return dataclasses.field(default=default, metadata={"allowed": allowed, "help": help_sentence})


@dataclass(frozen=True)
class Settings:
    host: str = _row("127.0.0.1", TEXT, "Address to listen on.")
    port: int = _row(8700, whole(0, 65535), "Port to listen on; 0 picks a free one.")
    data: Path = _row(
        Path("~/.tapeline"), PATH, "Directory that holds all state: database, keys, models."
    )
    database: str = _row(
        "", DATABASE, "PostgreSQL URL to use instead of the SQLite file in the data directory."
    )
    blobs: str = _row(
        "", BLOBS, "Object storage for archives; empty: the folder `blobs` in the data directory."
    )
    backup_folder: str = _row(
        "", FOLDER, "Folder for scheduled backups, on another disk if possible; empty: none."
    )
    backup_hours: int = _row(24, whole(1, 24 * 365), "Hours from one backup to the next.")
    backup_keep: str = _row(
        "7 daily, 4 weekly", BACKUPS, "Which scheduled backups are kept; others are removed."
    )
    backup_recipients: str = _row(
        "",
        PUBLIC_KEYS,
        "Public keys of age that scheduled backups are encrypted to; empty: they are readable.",
    )
    engine: str = _row(
        "local", one_of(["local", "ray"]), "Where models run: on this machine, or in a Ray cluster."
    )
    ray_address: str = _row("", HOST_AND_PORT, "Where the head of that Ray cluster is.")
    nodes_port: int = _row(
        8701, whole(0, 65535), "Port where the nodes of a cluster reach this server."
    )
    demo: bool = _row(False, SWITCH, "Start with a demo account and running models to explore.")
    public_url: str = _row(
        "",
        ORIGIN,
        "Address where people reach this server, for links; empty: the one in each request.",
    )
    trusted_proxies: str = _row(
        "",
        ANY_TEXT,
        "Comma-separated addresses of proxies whose X-Forwarded-For and -Proto are trusted.",
    )
    metrics_token: str = _row(
        "",
        ANY_TEXT,
        "Secret that Prometheus sends to read /metrics; empty: /metrics is not served.",
    )
    metrics_names: bool = _row(
        False, SWITCH, "Show the names of models and their projects' ids in /metrics, not only ids."
    )
    telemetry: str = _row(
        "",
        ORIGIN,
        "OpenTelemetry collector that traces are sent to by OTLP over HTTP; empty: none are made.",
    )
    signup: SignUp = _row(
        "invite", one_of(get_args(SignUp)), "Who may sign up once the first account exists."
    )
    signin_limit_account: int = _row(
        10,
        whole(1, 1_000_000),
        "Wrong passwords in a row from one address or device before the next attempts are delayed.",
    )
    signin_limit_address: int = _row(
        60,
        whole(1, 1_000_000),
        "Attempts to sign in or up per address in 15 minutes before the next ones are delayed.",
    )
    invitation_days: int = _row(7, whole(1, 365), "Days until an invitation link expires.")
    session_days: int = _row(30, whole(1, 365), "Days until an unused browser session expires.")
    max_body: int = _row(
        1_000_000,
        whole(1_000, 10_000_000_000),
        "Largest body in bytes of what has no setting of its own: of an event, above all.",
    )
    max_large_body: int = _row(
        100_000_000,
        whole(1_000, 10_000_000_000),
        "Largest body in bytes of a backtest result or a batch of events.",
    )
    max_archive: int = _row(
        100_000_000, whole(1_000, 10_000_000_000), "Largest model archive in bytes, compressed."
    )
    upload_seconds: int = _row(900, whole(1, 86_400), "Seconds that an archive may take to arrive.")
    plans: str = _row(
        "nano=256/250, micro=512/500, small=1024/1000, medium=2048/2000, large=4096/4000",
        PLANS,
        "Plans for running models: memory in MB and thousandths of a core.",
    )
    backtest_plans: str = _row("slow=512/250", MORE_PLANS, "Additional plans, for backtests only.")
    body_seconds: int = _row(60, whole(1, 3600), "Seconds that a body may take to arrive.")
    head_seconds: int = _row(
        20, whole(1, 3600), "Seconds that the request line and the headers may take to arrive."
    )
    idle_seconds: int = _row(
        60, whole(1, 3600), "Seconds that a connection may stay open between two requests."
    )
    stalled_seconds: int = _row(
        60, whole(1, 3600), "Seconds that a client may leave an answer unread."
    )
    max_connections: int = _row(
        4096,
        whole(1, 1_000_000),
        "Open connections; fewer if the limit on open files is too low.",
    )
    max_connections_address: int = _row(
        512, whole(1, 1_000_000), "Open connections per address, or per /64 network with IPv6."
    )
    uncounted_addresses: str = _row(
        "127.0.0.0/8, ::1",
        ANY_TEXT,
        "Comma-separated addresses and networks exempt from that limit, as trusted proxies are.",
    )
    max_held: int = _row(
        32_000_000,
        whole(1_000_000, 1_000_000_000_000),
        "Bytes of requests in progress that may be in memory in total; more get 503.",
    )
    max_spool: int = _row(
        4_000_000_000,
        whole(1_000_000, 1_000_000_000_000_000),
        "Bytes of large bodies in progress that may be on disk in total; more get 503.",
    )
    max_spool_owner: int = _row(
        400_000_000,
        whole(1_000_000, 1_000_000_000_000_000),
        "The same per key or account; more get 429.",
    )
    max_line: int = _row(
        64 * 1024, whole(100, 1_000_000), "Longest log line in bytes; longer lines are cut."
    )
    max_depth: int = _row(32, whole(1, 200), "Levels that JSON may be nested.")
    max_parts: int = _row(1_000, whole(1, 1_000_000), "Most fields or parts in a form.")
    write_queue: int = _row(
        10_000,
        whole(1, 10_000_000),
        "Writes and single events that may be queued for the database; more get 503.",
    )
    busy_seconds: int = _row(
        5,
        whole(1, 600),
        "Seconds that a write waits for another process that has locked the database.",
    )
    readers: int = _row(
        4, whole(1, 64), "Threads that read for tenants, each with a connection to the database."
    )
    pythons: str = _row(
        "",
        ANY_TEXT,
        "Comma-separated folders or programs where Python versions are searched first.",
    )
    package_index: str = _row(
        "", ORIGIN, "Package index that models install from; empty: the public one."
    )
    package_index_extra: str = _row(
        "", ANY_TEXT, "Comma-separated package indexes to search before that one."
    )
    package_substitutes: bool = _row(
        True, SWITCH, "Install substitutes for packages that are known not to build here."
    )
    package_proxy: str = _row("", ORIGIN, "Proxy for downloading packages.")
    resolution_hours: int = _row(
        24, whole(0, 24 * 365), "Hours for which requirements keep their last resolved versions."
    )
    environment_cache: int = _row(
        10, whole(1, 100_000), "Gigabytes that environments and their downloads may use."
    )
    install_minutes: int = _row(
        30, whole(1, 1440), "Minutes that installing a model's packages may take."
    )
    stop_seconds: int = _row(
        10, whole(0, 3600), "Seconds that a model has to clean up after it is asked to stop."
    )
    lease_seconds: int = _row(
        6, whole(2, 3600), "Seconds that models of a cluster live on while their node is cut off."
    )
    backtest_minutes: int = _row(
        720, whole(1, 1_000_000), "Minutes after which a backtest is stopped."
    )
    backtest_slots: int = _row(
        0,
        whole(0, 10_000),
        "Backtests that may run at the same time; 0: one per core of this machine or of all nodes.",
    )
    run_disk: int = _row(
        2048, whole(16, 10_000_000), "Megabytes of disk that a run's folders may use."
    )
    quota_pushed: int = _row(
        256, whole(1, 1_000_000), "Megabytes that a model may push per minute; more gets 429."
    )
    quota_key: int = _row(
        512, whole(1, 1_000_000), "Megabytes that may be pushed with one key per minute."
    )
    quota_captured: int = _row(
        32, whole(1, 1_000_000), "Megabytes of output per minute that are kept from a model's runs."
    )
    quota_total: int = _row(
        20, whole(1, 1_000_000), "Gigabytes that a model's tape may hold in total."
    )
    quota_archives: int = _row(
        20, whole(1, 1_000_000), "Gigabytes that the archives of a project's versions may hold."
    )
    bars_days: int = _row(
        400,
        whole(0, 100_000),
        "Days for which indicators and bars under an hour are kept; 0: for ever.",
    )
    price_source: str = _row(
        "",
        EXCHANGE,
        "Exchange to get public candles from, by its name in ccxt, such as kraken; empty: none.",
    )
    price_source_minutes: int = _row(
        5, whole(1, 24 * 60), "Minutes from one look at the prices of that exchange to the next."
    )
    price_source_url: str = _row(
        "", ORIGIN, "Server to ask instead of the exchange's own, such as a relay; empty: none."
    )
    run_processes: int = _row(
        256, whole(8, 100_000), "Processes and threads that a run may have at the same time."
    )
    sample_days: int = _row(
        3, whole(1, 365), "Days for which memory and processor usage of runs is kept."
    )
    unsafe_no_sandbox: bool = _row(
        False, SWITCH, "Run models without any sandbox: they can read and change everything."
    )
    install_memory: int = _row(
        2048, whole(256, 1_000_000), "Megabytes of memory for installing a model's packages."
    )
    helpers: int = _row(
        2, whole(1, 64), "Processes that may parse large results and batches at the same time."
    )
    late_seconds: int = _row(
        300,
        whole(0, 1_000_000_000),
        "Seconds after its own time when an arriving order, price, position or cash is late.",
    )
    timestamps: str = _row(
        "",
        ADDRESSES,
        "Time-stamp authorities (RFC 3161) that confirm when tapes were written; empty: none.",
    )
    timestamp_minutes: int = _row(
        60, whole(1, 24 * 60), "Minutes from one time stamp over all tapes to the next."
    )
    alive: str = _row(
        "", ADDRESSES, "Addresses that are asked every minute while all is well; empty: none."
    )
    alerts_may_reach: str = _row(
        "", REACH, "Networks and names beyond the public internet that messages may be sent to."
    )
    log_level: logs.Level = _row(
        "info", one_of(get_args(logs.Level)), "Lowest level of log lines to print."
    )
    log_format: logs.Form = _row(
        "text", one_of(get_args(logs.Form)), "Log lines as text for people, or as JSON."
    )

    def address(self, port: int) -> str:
        """Where to reach the server that listens on `port`."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104
        return self.public_url or f"http://{f'[{host}]' if ':' in host else host}:{port}"


ROWS = {field.name: field for field in dataclasses.fields(Settings)}
