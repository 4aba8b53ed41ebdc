"""A host's name is one server's: a copied data directory is another host, a restored one not."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tapeline.errors import CannotStart
from tapeline.runs import host_identity
from tapeline.settings import Settings
from tapeline.store.backends.database import Database, open_database
from tests.waiting import wait_for


@contextmanager
def server(settings: Settings, data: Path | None = None) -> Iterator[tuple[str, Database]]:
    """As far as it takes to have a name."""
    chosen = replace(settings, data=data or settings.data)
    database = open_database(chosen)
    try:
        name = host_identity.settle(chosen.data / "host", database.claim, database.give_back)
        try:
            yield name, database
        finally:
            database.give_back(name)  # PostgreSQL may take a while to notice a closed connection
    finally:
        database.dispose()


@pytest.fixture
def copy(settings: Settings) -> Path:
    """Of a data directory whose server has run before."""
    with server(settings):
        pass
    made = settings.data.with_name("copy")
    shutil.copytree(settings.data, made)
    return made


def release(copy: Path) -> None:
    """What a server does after it has taken over the runs of its original."""
    host_identity.keep(copy / "host", (copy / "host").read_text().split()[0])


def test_a_host_keeps_its_name(settings: Settings) -> None:
    with server(settings) as (first, _):
        pass
    with server(settings) as (second, _):
        assert second == first


@pytest.mark.parametrize("settings", ["postgresql"], indirect=True)
def test_a_copy_beside_its_original_is_another_host_and_stays_it(
    settings: Settings, copy: Path
) -> None:
    with server(settings) as (original, _), server(settings, copy) as (other, _):
        assert other != original
    with server(settings, copy) as (again, _), server(settings) as (original_again, _):
        assert (again, original_again) == (other, original)


def test_a_copy_whose_original_is_gone_takes_its_place_when_it_is_released(
    settings: Settings, copy: Path
) -> None:
    with server(settings) as (original, _):
        pass
    with server(settings, copy) as (restored, _):
        assert restored == original
        assert host_identity.is_copied(copy / "host")
    release(copy)
    with server(settings, copy) as (restored, _):
        assert restored == original
        assert not host_identity.is_copied(copy / "host")


def test_a_name_without_a_place_is_that_of_an_older_version(settings: Settings) -> None:
    (settings.data / "host").write_text("older\n")
    assert not host_identity.is_copied(settings.data / "host")
    with server(settings) as (name, _):
        assert name == "older"


@pytest.mark.parametrize("settings", ["postgresql"], indirect=True)
def test_an_unreleased_copy_does_not_keep_its_original_from_starting(
    settings: Settings, copy: Path
) -> None:
    with server(settings, copy) as (restored, _), server(settings) as (original, _):
        assert restored == original


@pytest.mark.parametrize("settings", ["postgresql"], indirect=True)
def test_whoever_lost_its_name_to_a_copy_does_not_start_beside_it(
    settings: Settings, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_identity, "PATIENCE", 0.0)
    release(copy)
    refused = pytest.raises(CannotStart, match="Another server runs as this host")
    with server(settings, copy), refused, server(settings):
        pass


@pytest.mark.parametrize("settings", ["postgresql"], indirect=True)
def test_a_server_that_was_cut_off_knows_that_a_copy_took_its_name(
    settings: Settings, copy: Path
) -> None:
    release(copy)
    with server(settings) as (name, database):
        assert not database.has_lost(name)
        assert database.claims is not None
        database.claims.close()  # as when the database is started anew
        with server(settings, copy) as (same, other):
            assert same == name
            assert database.has_lost(name)
            assert not other.has_lost(name)
        # The copy is gone; PostgreSQL lets go of its name when it notices.
        wait_for(lambda: not database.has_lost(name))
        third = open_database(settings)
        assert not third.claim(name), "so the name is held again"
        third.dispose()


@pytest.mark.parametrize("settings", ["postgresql"], indirect=True)
def test_a_name_is_held_again_after_the_connection_was_lost(settings: Settings) -> None:
    with server(settings) as (name, database):
        claims = database.claims
        assert claims is not None
        claims.close()  # as when the database is started anew
        claims.renew()
        wait_for(lambda: not database.has_lost(name))  # as above
        other = open_database(settings)
        assert not other.claim(name)
        other.dispose()
