"""Every kind of fact, by the name that conditions ask for."""

from tapeline.watch.facts.deployed_runs import DEPLOYED_RUN
from tapeline.watch.facts.fact import Fact
from tapeline.watch.facts.lifecycle_events import LIFECYCLE

FACTS: tuple[Fact, ...] = (DEPLOYED_RUN, LIFECYCLE)

BY_NAME = {one.name: one for one in FACTS}
