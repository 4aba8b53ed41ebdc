"""System calls that Python lacks, loaded before the permission to read the library is dropped."""

import ctypes
import math
import os
import signal
import struct
import sys
from time import CLOCK_BOOTTIME
from typing import NoReturn

NEWNS, NEWUSER, NEWNET = 0x00020000, 0x10000000, 0x40000000
NOSUID, NODEV, BIND, RECURSIVE, PRIVATE = 2, 4, 4096, 16384, 1 << 18
_DETACH = 2
_PDEATHSIG, _DUMPABLE, _NO_NEW_PRIVS = 1, 4, 38
_LIBRARY = ctypes.CDLL(None, use_errno=True)
_ABSOLUTE = 1
_SIZE_OF_EVENT = 64


def unshare(flags: int) -> None:
    _call("unshare", flags)


def join(namespace: int) -> None:
    _call("setns", namespace, 0)


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    texts = [os.fsencode(one) for one in (source, target, kind, options)]
    _call("mount", texts[0], texts[1], texts[2], _unsigned_long(flags), texts[3])


def unmount(target: str) -> None:
    _call("umount2", os.fsencode(target), _DETACH)


def begin(parent: int) -> None:
    """The first step of every child."""
    _fresh_signals()
    _die_with(parent)


def become(uid: int, parent: int) -> None:
    """From root to a user without privileges that can still write its own /proc files."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    _call("prctl", _DUMPABLE, _unsigned_long(1), 0, 0, 0)
    _die_with(parent)  # a change of user clears it


def gain_nothing() -> None:
    """From now on, setuid programs grant nothing."""
    _call("prctl", _NO_NEW_PRIVS, _unsigned_long(1), 0, 0, 0)


def give_up(error: BaseException, descriptor: int) -> NoReturn:
    """End a child that could not be set up."""
    os.write(descriptor, f"{error}\n".encode(errors="replace"))
    sys.stderr.flush()
    os._exit(127)


class Timer:
    """Sends this process a signal at a moment of CLOCK_BOOTTIME. Children do not inherit it."""

    def __init__(self, number: int) -> None:
        self._id = ctypes.c_void_p()
        # A value for its handler, its number, and how to notify: 0 is by that signal.
        event = struct.pack("Qii", 0, number, 0)
        given = ctypes.create_string_buffer(event, _SIZE_OF_EVENT)
        _call("timer_create", CLOCK_BOOTTIME, given, ctypes.byref(self._id))

    def set(self, at: float) -> None:
        """Instead of the moment before; 0 is never."""
        seconds = math.floor(at)
        # Never early: a deadline that wakes us has passed.
        rest = min(999_999_999, math.ceil((at - seconds) * 1e9))
        when = (ctypes.c_long * 4)(0, 0, seconds, rest)
        _call("timer_settime", self._id, _ABSOLUTE, when, None)


def _fresh_signals() -> None:
    """Signal settings of Python and ours must not be inherited by another program."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if signal.getsignal(number) not in (signal.SIG_DFL, None):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _die_with(parent: int) -> None:
    _call("prctl", _PDEATHSIG, _unsigned_long(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _unsigned_long(number: int) -> object:
    return ctypes.c_ulong(number)


def _call(name: str, *arguments: object) -> None:
    if getattr(_LIBRARY, name)(*arguments) == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
