"""Every condition: for rules, their forms, the docs and the tests."""

from tapeline.watch.conditions.condition import Condition
from tapeline.watch.conditions.life import LIFE

CONDITIONS: tuple[Condition, ...] = (*LIFE,)

BY_NAME = {one.name: one for one in CONDITIONS}
