"""The errors that a call of a model may raise."""


class TapelineError(Exception):
    """Anything this package raises."""


class ConfigurationError(TapelineError, ValueError):
    """A server, model or key is missing or cannot be right."""


class InvalidEvent(TapelineError, ValueError):
    """An event that the server would refuse."""


class ClientClosed(TapelineError, RuntimeError):
    """This client is closed; make a new one."""

    def __init__(self) -> None:
        super().__init__(self.__doc__)
