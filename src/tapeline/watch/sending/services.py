"""Which services a channel may name, by the first word of its address (Apprise's schemas).

A list of those that are allowed, because a new version of Apprise may bring a plugin that runs a
program, writes a file or talks to the desktop. All of these send over the network and nothing else.
"""

import difflib
from urllib.parse import SplitResult, parse_qsl, urlsplit

from tapeline.errors import Invalid

LONGEST = 2_000  # characters of an address

WEB = {"http", "https"}
"""Ours, and signed."""
_NAMES = (
    "46elks apprise apprises atalk azure bark barks betterstack bluesky bsky brevo bulksms bulkvs"
    " burstsms chanify clickatell clicksend cliq d7sms dapnet dingtalk discord dot eight00com elks"
    " evolution evolutions exotel feishu firehydrant flock flowtriq flowtriqs fluxer fluxers form"
    " forms freemobile gchat github goalert goalerts gorush gorushs gotify gotifys groupme guilded"
    " gupshup hassio hassios httpsms humhub humhubs ifttt ilert incidentio infobip jira join json"
    " jsons kakao kakaotalk kaleyra kavenegar klr kook kudosity kumulos lametric lametrics lark"
    " line mailersend mailgun mailto mailtos mastodon mastodons matrix matrixs misskey misskeys"
    " mmost mmosts mobilemessage mobilemsg msg91 msgbird ncloud nclouds nctalk nctalks nexmo notica"
    " noticas notifiarr notifico notificos notifyre ntfy ntfys o365 octopush onebot onebots"
    " onesignal opsgenie pagerduty pagertree parsep parseps pbul pinglet pinglets pingram plivo"
    " postmark pover prowl psafer psafers push pushdeer pushdeers pushed pushme pushplus pushward"
    " pushy qq reddit resend revolt ringc rocket rockets ryver schan sendgrid sendpulse serwersms"
    " ses seven sfr signal signalgrid signals signl4 simplepush sinch slack smsc smseagle smseagles"
    " smsmanager smsmgr smstunnel smtp2go sns sparkpost spike splunk spugpush spush squadcast"
    " stackfield strmlabs synology synologys telesign telnyx tgram threema toot toots trigv trigvs"
    " tweet twilio twist twitter viber victorops voipms vonage webex wechat wecom wecombot whapi"
    " whatsapp workflow workflows wpush wxpusher wxteams x xmatters xml xmls youlmk zalo zcliq"
    " zohocliq zoom zulip"
)
ALLOWED = frozenset(_NAMES.split())
REQUESTS = {"json", "jsons", "xml", "xmls", "form", "forms"}
# They name files of the server; without them Apprise reads and writes none.
FILES = {"template", "pgp", "pgpkey", "pgpmode", "keyfile", "subfile"}


def kind_of(address: str) -> str:
    """`webhook` or `apprise`; a problem if messages cannot go there."""
    if not address.isprintable() or len(address) > LONGEST:
        raise _invalid(f"An address has at most {LONGEST:,} printable characters.")
    parts = _parts(address)
    if parts.scheme in WEB:
        if not parts.hostname:
            raise _invalid("A webhook's address is https:// with the name of a server.")
        if parts.username or parts.password:
            raise _invalid("A webhook's address has no password: its messages are signed.")
        return "webhook"
    if parts.scheme not in ALLOWED:
        raise _invalid(_unknown(parts.scheme))
    if wrong := FILES & {name.lower() for name, _ in parse_qsl(parts.query)}:
        raise _invalid(
            f"`{min(wrong)}` in an address names a file of this server, which is not allowed."
        )
    methods = {text.upper() for name, text in parse_qsl(parts.query) if name.lower() == "method"}
    if parts.scheme in REQUESTS and methods - {"POST"}:
        raise _invalid("Messages are sent with POST; leave `method` out of the address.")
    return "apprise"


def sends_requests(address: str) -> bool:
    """Whether it is a plain request, of which the address says nearly everything."""
    return _parts(address).scheme in REQUESTS


def masked(address: str, service: str = "") -> str:
    """What people may see of an address. Tokens stand anywhere in it, so nearly nothing."""
    parts = _parts(address)
    if parts.scheme in WEB:
        hidden = parts.path.strip("/") or parts.query
        return f"{parts.scheme}://{parts.hostname}/{'…' if hidden else ''}"
    if parts.scheme in {"mailto", "mailtos"}:
        return f"{parts.scheme}://…@{parts.hostname}"
    return f"{service} ({parts.scheme}://…)" if service else f"{parts.scheme}://…"


def _parts(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        _ = parts.port  # raises ValueError if it is not a number
    except ValueError:
        # Tokens of some services look like a port that is none.
        scheme, mark, rest = address.partition("://")
        parts = SplitResult(scheme.lower() if mark else "", "", "", rest.partition("?")[2], "")
    return parts


def _unknown(scheme: str) -> str:
    if not scheme:
        return "An address begins with the name of a service, such as mailtos:// or https://."
    near = difflib.get_close_matches(scheme, sorted(ALLOWED | WEB), n=1)
    hint = f" Did you mean {near[0]}://?" if near else ""
    return f"Messages cannot be sent to {scheme[:40]}://.{hint}"


def _invalid(why: str) -> Invalid:
    return Invalid(why, field="address")
