"""Whoever is acting: an account, a project's key, or the operator at the command line."""

from typing import Literal

import msgspec

from tapeline.errors import Unidentified


class Actor(msgspec.Struct, frozen=True, kw_only=True):
    kind: Literal["account", "key", "operator"]
    id: str | None
    """The account's or the key's id; the operator has none."""
    label: str
    """How the audit calls the actor: it must still mean something after the account is gone."""
    address: str = ""
    sign_in_id: str | None = None
    """The sign-in an account came through, so that it can be kept when the others end."""
    project_id: str | None = None
    """The one project that a key opens."""

    def user_id(self) -> str:
        """The account's id. Keys and the operator are no accounts."""
        if self.kind != "account" or self.id is None:
            raise Unidentified
        return self.id

    def signed_in(self) -> tuple[str, str]:
        """The account and the sign-in it came through."""
        if self.sign_in_id is None:
            raise Unidentified
        return self.user_id(), self.sign_in_id


OPERATOR = Actor(kind="operator", id=None, label="operator")
