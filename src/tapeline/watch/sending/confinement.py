"""What the code that sends one message may do on this machine: connect to where messages may go.

Apprise and its plugins are a large library that addresses of tenants steer. The interpreter's audit
hooks see what it really does, whichever way it came there: a connection is checked with the address
that it is opened to, after names were looked up and redirects followed. A hook cannot be removed.
"""

import os
import socket
import ssl
import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tapeline.watch.sending.reach import Probe, Reach

# Each starts a program, or another process in which these hooks would be lost.
PROGRAMS = {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system"}
PROGRAMS |= {"subprocess.Popen", "pty.spawn", "os.startfile"}
CONNECTIONS = {"socket.connect", "socket.sendto", "socket.sendmsg"}
CHANGES = {"os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.chmod"}
CHANGES |= {"os.chown", "os.truncate", "os.utime", "shutil.rmtree", "shutil.move"}
SYSTEM: tuple[str, ...] = (
    "/etc/ssl/certs/", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs/", "/etc/pki/ca-trust/",
    "/usr/lib/", "/usr/share/", "/usr/local/share/", "/etc/mime.types", "/etc/httpd/mime.types",
    "/etc/services", "/etc/hosts", "/dev/null", "/dev/urandom",
)  # fmt: skip
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Refused(PermissionError):
    """Libraries take it for a failure of the machine, which it is to them."""


class Confinement:
    def __init__(self, allowed: str, ours: Iterable[str] = ()) -> None:
        """`ours`: addresses under which the server is reached."""
        self._reach = Reach(allowed, ours)
        self._looked_up: set[str] = set()
        """Addresses of the name that was looked up last, if the operator allows it. Each look-up
        begins anew: a redirect from there to one of these numbers is not of that name."""
        self._readable = _readable()
        self.refused = ""
        """What was refused last, for people."""

    def note(self, why: str) -> None:
        self.refused = why

    def begin(self, *files: str) -> None:
        """From now on, for the rest of this process. These files may be read too."""
        self._readable += files
        socket.getaddrinfo = self._noting(socket.getaddrinfo)
        sys.addaudithook(self._look)

    def _noting(self, look_up: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
        def noted(host: Any, *more: Any, **named: Any) -> list[Any]:
            found = look_up(host, *more, **named)
            name = host.decode() if isinstance(host, bytes) else host
            allowed = isinstance(name, str) and self._reach.names(name)
            self._looked_up = {place[0] for *_, place in found} if allowed else set()
            return found

        return noted

    def _look(self, event: str, details: tuple[Any, ...]) -> None:
        if event in CONNECTIONS:
            self._connect(details[0], details[1])
        elif event == "open":
            self._open(*details)
        elif event in PROGRAMS or event in CHANGES or event == "socket.bind":
            self._refuse("The service wanted to do something on this server, which is not allowed.")

    def _connect(self, made: Any, place: Any) -> None:
        if isinstance(made, Probe):  # it asks whether an address is ours
            return
        if place is None:  # of a socket that is connected, so it was checked
            return
        internet = getattr(made, "family", None) in {socket.AF_INET, socket.AF_INET6}
        host = place[0] if internet and isinstance(place, tuple) else None
        if not isinstance(host, str) or not (host in self._looked_up or self._reach.allows(host)):
            self._refuse(
                "The address leads to a private network or to this server itself,"
                " which its operator does not allow (setting alerts_may_reach)."
            )

    def _open(self, path: Any, mode: Any, flags: Any) -> None:
        if isinstance(path, int):
            return
        reads = not (int(flags or 0) & _WRITES) and not set(str(mode or "r")) & set("wax+")
        plain = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - `..` is resolved, links are not
        if not reads or not plain.startswith(self._readable):
            self._refuse("The address asks for a file of this server, which is not allowed.")

    def _refuse(self, why: str) -> None:
        self.note(why)
        raise Refused(why)


def _readable() -> tuple[str, ...]:
    """Beginnings of names of files that libraries read: their own code, certificates, zones."""
    paths = sysconfig.get_paths()
    code = {f"{paths[name]}/" for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    code |= {f"{Path(one).resolve()}/" for one in code}
    code |= {f"{one}/" for one in sys.path if one and Path(one).is_dir()}
    certificates = [one for one in ssl.get_default_verify_paths() if str(one).startswith("/")]
    return (*sorted(code), *SYSTEM, *certificates)
