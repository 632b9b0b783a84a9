"""What is computed is kept within a bound of bytes, the least recently used dropped."""

from collections.abc import Callable
from threading import Barrier, Thread

from probe.cache import ByteBoundedCache


def bounded(limit: int, keep_newest: bool = False) -> ByteBoundedCache:
    """Return a cache of texts, one byte a character."""
    return ByteBoundedCache(lambda: limit, len, keep_newest)


def kept(cache: ByteBoundedCache, key: str, size: int) -> bool:
    """Ask for `size` bytes under a key; return whether they were there."""
    computed: list[str] = []
    cache.get(key, lambda: computed.append(key) or "x" * size)  # type: ignore[func-returns-value]  # a list's append
    return not computed


def test_a_value_is_computed_once_until_a_full_cache_drops_what_was_not_used_longest() -> None:
    cache = bounded(100)  # two have room
    assert cache.peek("a") is None
    assert [kept(cache, key, 40) for key in ("a", "a", "b", "a", "c")] == [
        *(False, True, False, True, False)
    ]
    assert [kept(cache, key, 40) for key in ("a", "c", "b")] == [True, True, False]
    assert cache.peek("c") == "x" * 40  # a look counts as use
    kept(cache, "a", 40)
    assert [kept(cache, "c", 40), kept(cache, "b", 40)] == [True, False]


def test_what_is_larger_than_the_bound_is_returned_but_kept_only_where_the_newest_is() -> None:
    for keep_newest in (False, True):
        cache = bounded(100, keep_newest)
        kept(cache, "small", 40)
        assert len(cache.get("large", lambda: "x" * 101)) == 101
        assert kept(cache, "large", 101) == keep_newest
        assert kept(cache, "small", 40) != keep_newest


def test_a_value_put_replaces_the_one_before() -> None:
    cache = bounded(100)
    kept(cache, "a", 40)
    cache.put("a", "new")
    assert cache.get("a", lambda: "computed") == "new"
    kept(cache, "b", 97)
    assert kept(cache, "a", 3)  # both fit: the old value's bytes are no longer counted


def test_the_bound_is_asked_for_at_each_use() -> None:
    limits = [100]
    cache = ByteBoundedCache(lambda: limits[-1], len)
    kept(cache, "a", 40)
    kept(cache, "b", 40)
    limits.append(50)
    kept(cache, "c", 40)  # now one has room
    assert [kept(cache, key, 1) for key in ("c", "a", "b")] == [True, False, False]


def test_a_slow_value_does_not_block_others() -> None:
    cache, meeting = bounded(100), Barrier(2, timeout=20)

    def meet(value: str) -> Callable[[], str]:
        return lambda: value * (meeting.wait() is not None)

    # each computation waits for the other: one lock around both would never end
    threads = [Thread(target=cache.get, args=(key, meet(key))) for key in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert [cache.get(key, lambda: "") for key in ("a", "b")] == ["a", "b"]
