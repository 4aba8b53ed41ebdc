"""Room on disk is shared: a tenant leaves some of it for others, however many keys it uses."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from tapeline.errors import Overloaded, TooManyUploads
from tapeline.fair_line import Owner
from tapeline.tape.spool import Spool


@pytest.mark.parametrize("projects", [1, 10])
def test_a_tenant_with_many_keys_leaves_room_for_others(tmp_path: Path, projects: int) -> None:
    spool = Spool(tmp_path, most=4_000, most_of_one=400)
    with ExitStack() as held:

        def take(tenant: str, key: int) -> None:
            whose = Owner(tenant, f"project {key % projects}", str(key))
            held.enter_context(spool.room(whose)).grow(400)

        for key in range(5):
            take("ada", key)
        with pytest.raises(Overloaded):
            take("ada", 5)
        for key in range(2):
            take("ben", key)
        take("eve", 0)
        assert spool.taken.total() == 8 * 400
    assert not spool.taken
    with spool.room(Owner("ada", "5")) as room:
        room.grow(400)
        with pytest.raises(TooManyUploads):
            room.grow(1)


def test_one_key_may_take_its_own_limit_even_if_that_is_most_of_the_spool(tmp_path: Path) -> None:
    spool = Spool(tmp_path, most=1_000, most_of_one=900)
    with spool.room(Owner("ada", "key")) as room:
        room.grow(900)
        with pytest.raises(Overloaded), spool.room(Owner("ben", "key")) as other:
            other.grow(101)
