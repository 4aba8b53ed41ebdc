"""Every kind of fact, by the name that conditions ask for."""

from tapeline.watch.facts.deployed_runs import DEPLOYED_RUN
from tapeline.watch.facts.fact import Fact
from tapeline.watch.facts.last_events import HEARTBEATS, LAST_BAR, LAST_EVENT, LAST_LOG, LAST_ORDER
from tapeline.watch.facts.lifecycle_events import LIFECYCLE
from tapeline.watch.facts.of_arrivals import ARRIVALS
from tapeline.watch.facts.of_backtests import BACKTESTS
from tapeline.watch.facts.of_exposure import EXPOSURE
from tapeline.watch.facts.of_installation import CERTIFICATE, DISK, HOSTS, QUOTA
from tapeline.watch.facts.of_lines import LINES
from tapeline.watch.facts.of_money import MONEY, REPORTED_MONEY
from tapeline.watch.facts.of_orders import FILLS, NEWEST_ORDERS, ORDERS
from tapeline.watch.facts.of_sign_ins import KEY_ADDRESSES, SIGN_INS
from tapeline.watch.facts.resource_use import RESOURCE_USE

FACTS: tuple[Fact, ...] = (
    DEPLOYED_RUN, LIFECYCLE, RESOURCE_USE, LAST_EVENT, LAST_ORDER, LAST_LOG, LAST_BAR, HEARTBEATS,
    MONEY, REPORTED_MONEY, EXPOSURE, ORDERS, NEWEST_ORDERS, FILLS, ARRIVALS, LINES, BACKTESTS, DISK,
    QUOTA, HOSTS, CERTIFICATE, SIGN_INS, KEY_ADDRESSES,
)  # fmt: skip

BY_NAME = {one.name: one for one in FACTS}
