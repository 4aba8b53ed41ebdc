"""Who performs an action: an account, a project's key, a rule, or the operator at the command
line."""

from typing import Literal

import msgspec

from tapeline.errors import Unidentified


class Actor(msgspec.Struct, frozen=True, kw_only=True):
    kind: Literal["account", "key", "rule", "operator"]
    id: str | None
    """The account's, the key's or the rule's id; the operator has none."""
    label: str
    """The actor's name in the audit log, which must still make sense after the account is
    deleted."""
    address: str = ""
    sign_in_id: str | None = None
    """The account's current sign-in, so that it can stay when the others end."""
    project_id: str | None = None
    """The one project that a key opens."""

    def user_id(self) -> str:
        """The account's id. Keys and the operator are not accounts."""
        if self.kind != "account" or self.id is None:
            raise Unidentified
        return self.id

    def signed_in(self) -> tuple[str, str]:
        """The account and its current sign-in."""
        if self.sign_in_id is None:
            raise Unidentified
        return self.user_id(), self.sign_in_id


OPERATOR = Actor(kind="operator", id=None, label="operator")
