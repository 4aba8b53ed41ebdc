"""Every command in one table: its name, the function, its sentence, and where the help lists it."""

from tapeline.cli.terminal.lazily import Row

START, RUN, LOOK, RESULTS, MANAGE, PROOF, OPERATE = (
    "Getting started",
    "Running models",
    "Watching models",
    "Results",
    "Projects, members, keys",
    "Proof",
    "For the operator of a server",
)

GROUPS = {
    "backtests": ("Backtests of a model: list, show, compare.", RESULTS),
    "models": ("Models that run elsewhere, and starter models.", MANAGE),
    "secrets": ("Secrets of a model: environment variables of its runs.", MANAGE),
    "channels": ("Where messages about incidents go.", MANAGE),
    "share": ("Links that show a record to people without an account.", RESULTS),
    "keys": ("Keys of a project; for operators, also the server's own.", MANAGE),
    "projects": ("Your projects, and which one is in use.", MANAGE),
    "members": ("Members of a project and invitations.", MANAGE),
    "servers": ("Servers you are signed in to, and which one is in use.", START),
    "demo": ("The demo of `tapeline up --demo`.", OPERATE),
    "hosts": ("The hosts that run models of this installation.", OPERATE),
    "witness": ("Servers that witness each other, so that none can show two histories.", OPERATE),
    "user": ("Accounts, for the operator of a server.", OPERATE),
}
USUAL = {"hosts": "list"}
"""What the name of a group alone means."""

ROWS = (
    Row("login", "account.login:login", "Sign in to a server.", START),
    Row("logout", "account.login:logout", "Sign out: the token stops working.", START),
    Row("whoami", "account.login:whoami", "Show who you are, where, and in which project.", START),
    Row("servers list", "account.servers:list_servers", "List the servers you are signed in to."),
    Row("servers use", "account.servers:use", "Choose the server that commands use."),
    Row("init", "model.init:init", "Make a folder with an example model to start from.", START),
    Row("deploy", "model.deploy:deploy", "Upload a folder as a new version and run it live.", RUN),
    Row("backtest", "model.backtest:backtest", "Upload a folder and run its backtest.", RUN),
    Row(
        "pull", "model.pull:pull", "Download a version as it was uploaded, into a new folder.", RUN
    ),
    Row("start", "model.control:start", "Run a model live, with the version that ran last.", RUN),
    Row("stop", "model.control:stop", "Stop a model, or one of its runs.", RUN),
    Row(
        "halt",
        "model.halting:halt",
        "Stop every model of a project now, and prove for each one that it is stopped.",
        RUN,
    ),
    Row(
        "resume",
        "model.halting:resume",
        "Let models of a halted project be started again.",
        RUN,
    ),
    Row("rollback", "model.control:rollback", "Run an older version live again.", RUN),
    Row(
        "delete", "model.control:delete", "Delete a model with everything that belongs to it.", RUN
    ),
    Row(
        "legacy-proxy",
        "account.legacy_proxy:legacy_proxy",
        "Run a client of an older platform against your server, unchanged.",
        RUN,
    ),
    Row("ps", "model.ps:ps", "List a project's models with their state and results.", LOOK),
    Row("logs", "record.logs:logs", "Show a model's log; -f follows it.", LOOK),
    Row("versions", "model.history:versions", "List a model's versions.", LOOK),
    Row("runs", "model.history:runs", "List a model's runs and how they ended.", LOOK),
    Row("open", "record.open:open_page", "Open a model's page in the browser.", LOOK),
    Row("orders", "record.orders:orders", "List a model's orders, newest first.", RESULTS),
    Row("pnl", "record.pnl:pnl", "Show a model's profit and loss.", RESULTS),
    Row("screener", "record.screener:screener", "Show a screener's latest result.", RESULTS),
    Row("backtests list", "record.backtests:list_backtests", "List a model's backtests."),
    Row("backtests show", "record.backtests:show", "Show one backtest: status, metrics, equity."),
    Row("backtests compare", "record.backtests:compare", "Compare backtests, metric by metric."),
    Row(
        "share new",
        "record.share:new",
        "Make a link to a model's record; its address is shown once.",
    ),
    Row(
        "share list",
        "record.share:list_shares",
        "List a model's links, what they show and how often they were opened.",
    ),
    Row("share change", "record.share:change", "Change what a link shows; its address stays."),
    Row("share rm", "record.share:remove", "Revoke a link: it stops working at once."),
    Row(
        "models new",
        "model.models:new",
        "Register a model that runs elsewhere and pushes its events.",
    ),
    Row(
        "models publish",
        "model.models:publish",
        "Publish a version as a starter model for everyone on this server.",
    ),
    Row("models unpublish", "model.models:unpublish", "Remove a starter model from the list."),
    Row(
        "secrets set",
        "model.secrets:put",
        "Set a secret; its value is asked for or read from standard input.",
    ),
    Row("secrets list", "model.secrets:list_secrets", "List the names of a model's secrets."),
    Row("secrets rm", "model.secrets:remove", "Delete a secret."),
    Row(
        "keys new",
        "account.keys:new",
        "Generate a key for models and scripts; its pass is shown once.",
    ),
    Row("keys list", "account.keys:list_keys", "List a project's keys."),
    Row("keys rm", "account.keys:remove", "Delete a key; it stops working at once."),
    Row(
        "keys rotate",
        "operator.server_keys:rotate",
        "Make new keys for idTokens and for signing tapes. A running server uses them at once.",
        OPERATE,
    ),
    Row(
        "keys rotate-store",
        "operator.server_keys:rotate_store",
        "Make a new key for secrets and re-encrypt all of them. A running server uses it at once.",
        OPERATE,
    ),
    Row(
        "keys replace-lost",
        "operator.server_keys:replace_lost",
        "Make new keys in the place of lost ones. Secrets have to be set again.",
        OPERATE,
    ),
    Row("channels add", "model.channels:add", "Make a channel for messages about incidents."),
    Row(
        "channels list",
        "model.channels:list_channels",
        "List channels, and whether messages arrive.",
    ),
    Row(
        "channels test",
        "model.channels:send_test",
        "Send a message to a channel, and say whether the service accepted it.",
    ),
    Row(
        "channels remove",
        "model.channels:remove",
        "Delete a channel, with what it was still to be told.",
    ),
    Row("projects list", "account.projects:list_projects", "List your projects."),
    Row("projects new", "account.projects:new", "Create a project and switch to it."),
    Row("projects use", "account.projects:use", "Choose the project that commands use."),
    Row(
        "projects space",
        "account.space:space",
        "Show what the project takes by kind of data, or choose how long to keep a kind.",
    ),
    Row("projects rm", "account.projects:remove", "Delete a project with its models and keys."),
    Row("members list", "account.members:list_members", "List the members of a project."),
    Row("members invite", "account.members:invite", "Make a link that lets one person join."),
    Row(
        "members invitations",
        "account.members:invitations",
        "List invitations that are still open.",
    ),
    Row(
        "members withdraw",
        "account.members:withdraw",
        "Withdraw an invitation: its link stops working.",
    ),
    Row("members join", "account.members:join", "Join a project by an invitation link."),
    Row("members role", "account.members:role", "Give a member another role."),
    Row("members rm", "account.members:remove", "Remove a member from a project, or leave it."),
    Row(
        "export",
        "record.export:export",
        "Save a model's whole tape with its seals to a file.",
        PROOF,
    ),
    Row(
        "verify",
        "record.verify:verify",
        "Check a record: chain and signatures, without any server.",
        PROOF,
    ),
    Row("up", "operator.up:up", "Run the whole service in the foreground until Ctrl-C.", OPERATE),
    Row(
        "status",
        "operator.status:status",
        "Show the health of a server, and what to do about what is not well.",
        OPERATE,
    ),
    Row(
        "hold",
        "operator.holding:hold",
        "Keep all models from running until `tapeline release`.",
        OPERATE,
    ),
    Row(
        "release",
        "operator.holding:release",
        "Let models run again: after a hold, in a restored copy, or in a database that was moved.",
        OPERATE,
    ),
    Row(
        "backup",
        "operator.backup:backup",
        "Copy a server's data to a folder, even while it runs.",
        OPERATE,
    ),
    Row("restore", "operator.backup:restore", "Make a data directory from a backup.", OPERATE),
    Row(
        "move",
        "operator.move:move",
        "Copy everything from one database into an empty one.",
        OPERATE,
    ),
    Row(
        "compact",
        "operator.compact:compact",
        "Give the space of deleted rows back to the disk, while no server runs.",
        OPERATE,
    ),
    Row(
        "demo remove", "demo.account:remove", "Remove the demo with everything that belongs to it."
    ),
    Row(
        "hosts list",
        "operator.hosts:list_hosts",
        "List the hosts that run models of this installation.",
    ),
    Row(
        "hosts drain",
        "operator.hosts:drain",
        "Move a host's live models to other hosts, one by one.",
    ),
    Row("hosts undrain", "operator.hosts:undrain", "Let a host take runs again."),
    Row(
        "hosts forget",
        "operator.hosts:forget",
        "Say that a host's machine is gone, and start its live models on other hosts.",
    ),
    Row(
        "witness add",
        "operator.witnesses:add",
        "Have the log of this server signed by another one, after each round.",
    ),
    Row(
        "witness remove",
        "operator.witnesses:remove",
        "Do not ask a witness any more. The signatures that it gave stay in records.",
    ),
    Row(
        "witness allow",
        "operator.witnesses:allow",
        "Witness another server: sign each head of its log that extends the one before.",
    ),
    Row(
        "witness forbid",
        "operator.witnesses:forbid",
        "Do not witness another server any more. What was signed stays remembered.",
    ),
    Row(
        "witness list",
        "operator.witnesses:list_witnesses",
        "List the witnesses of this server, and the servers that it witnesses.",
    ),
    Row(
        "doctor",
        "operator.doctor:doctor",
        "Check whether this host can run models, and how to fix what is missing.",
        OPERATE,
    ),
    Row(
        "user add",
        "operator.user:add",
        "Add an account. The password is asked for, or read from standard input.",
    ),
    Row("user list", "operator.user:list_users", "List the accounts."),
    Row("user passwd", "operator.user:passwd", "Set an account's password; all its sign-ins end."),
    Row(
        "user disable",
        "operator.user:disable",
        "Disable an account at once. Its models and data stay.",
    ),
    Row("user enable", "operator.user:enable", "Enable a disabled account again."),
    Row("version", "account.version:version", "Print the version.", OPERATE),
)
