"""The cache makes a value once, and drops what was not used for longest."""

from tapeline.recently_used import RecentlyUsed


def test_a_value_is_made_once_and_the_least_recently_used_is_dropped() -> None:
    made: list[str] = []

    def value(key: str) -> str:
        made.append(key)
        return key.upper()

    cache = RecentlyUsed[str, str](2)
    for key in ("a", "b", "a", "c", "a", "b"):
        assert cache.get(key, lambda key=key: value(key)) == key.upper()  # type: ignore[misc]
    assert made == ["a", "b", "c", "b"]


def test_a_value_that_is_put_replaces_the_one_before() -> None:
    cache = RecentlyUsed[str, int](1)
    assert cache.get("a", lambda: 1) == 1
    cache.put("a", 2)
    assert cache.get("a", lambda: 3) == 2


def test_heavy_values_leave_less_room_for_others() -> None:
    cache = RecentlyUsed[str, str](10, len)
    cache.put("a", "12345")
    cache.put("b", "1234")
    cache.put("a", "1234")
    assert cache.find("b") == "1234", "the one that was replaced weighs nothing"
    cache.put("c", "12345678")
    assert (cache.find("a"), cache.find("b"), cache.find("c")) == (None, None, "12345678")
    cache.put("d", "more than all others together")
    assert (cache.find("c"), cache.find("d")) == (None, None)
