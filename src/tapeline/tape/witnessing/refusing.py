"""The errors of a witness: why it does not sign."""

from tapeline.errors import Conflict, Forbidden, Missing, Unprocessable


class UnknownLog(Missing):
    """This server does not witness that log. Its operator allows one with: tapeline witness
    allow URL."""


class NotTheLogsKey(Forbidden):
    """No key that is known for this log has signed this."""


class UnconfirmedKeys(Forbidden):
    """These keys are not confirmed by the keys that are known here."""


class DoesNotExtend(Unprocessable):
    """The proof does not show that this head extends the one that was signed before."""


class OtherSize(Conflict):
    """The newest head of this log that was signed here has another size, or another root."""

    size = 0

    @classmethod
    def of(cls, size: int) -> "OtherSize":
        made = cls()
        made.size = size
        return made
