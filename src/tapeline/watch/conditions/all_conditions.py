"""Every condition: for rules, their forms, the docs and the tests."""

from tapeline.watch.conditions.behaviour import BEHAVIOUR
from tapeline.watch.conditions.condition import Condition
from tapeline.watch.conditions.exposure import EXPOSURE
from tapeline.watch.conditions.life import LIFE
from tapeline.watch.conditions.money import MONEY
from tapeline.watch.conditions.platform import PLATFORM
from tapeline.watch.conditions.silence import SILENCE

CONDITIONS: tuple[Condition, ...] = (*LIFE, *SILENCE, *MONEY, *EXPOSURE, *BEHAVIOUR, *PLATFORM)

BY_NAME = {one.name: one for one in CONDITIONS}
