"""System calls that are denied to models: ways out of a sandbox that no trading model needs.

A deny list, because models use any library; the namespaces isolate, this is a second layer.
"""

import errno
import os
from typing import Any

from tapeline.errors import CannotLaunch

REFUSED = (
    # other processes' memory, and this machine's kernel
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd",
    "bpf", "perf_event_open", "userfaultfd", "lookup_dcookie", "syslog", "fanotify_init",
    "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
    "create_module", "query_module", "get_kernel_syms", "nfsservctl", "vm86", "vm86old",
    "modify_ldt", "iopl", "ioperm", "uselib", "ustat", "sysfs", "_sysctl",
    # keys are not isolated by namespaces
    "keyctl", "add_key", "request_key",
    # file systems and namespaces
    "mount", "umount", "umount2", "pivot_root", "chroot", "unshare", "setns", "fsopen",
    "fsconfig", "fsmount", "fspick", "move_mount", "open_tree", "open_tree_attr",
    "mount_setattr", "statmount", "listmount", "open_by_handle_at", "name_to_handle_at",
    "swapon", "swapoff", "quotactl", "quotactl_fd", "acct",
    # io_uring bypasses this filter
    "io_uring_setup", "io_uring_enter", "io_uring_register",
    # the machine as a whole
    "reboot", "settimeofday", "stime", "clock_settime", "clock_settime64", "adjtimex",
    "clock_adjtime", "clock_adjtime64", "sethostname", "setdomainname", "vhangup",
    "personality", "move_pages", "migrate_pages",
)  # fmt: skip
NAMESPACE_FLAGS = (
    0x00000080, 0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
TERMINAL_TRICKS = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX: fake keyboard input
# Unix, IPv4, IPv6 and the kernel's routing table. Others, such as virtual machine sockets, are not
# kept apart by network namespaces or are rarely used code of the kernel.
SOCKETS = {1, 2, 10, 16}
LOW = 0xFFFFFFFF
FIX = "Install it with: apt-get install libseccomp2"


def program() -> bytes:
    """The filter as bubblewrap reads it."""
    pyseccomp = _library()
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for name in REFUSED:
        _refuse(pyseccomp, rules, name, errno.EPERM)
    # Its flags are in memory, which a filter cannot read; without it libraries use clone.
    _refuse(pyseccomp, rules, "clone3", errno.ENOSYS)
    # Terabytes in a moment, faster than any check; without it libraries write instead.
    _refuse(pyseccomp, rules, "fallocate", errno.EOPNOTSUPP)
    for flag in NAMESPACE_FLAGS:
        _refuse(
            pyseccomp,
            rules,
            "clone",
            errno.EPERM,
            pyseccomp.Arg(0, pyseccomp.MASKED_EQ, flag, flag),
        )
    for request in TERMINAL_TRICKS:
        argument = pyseccomp.Arg(1, pyseccomp.MASKED_EQ, LOW, request)
        _refuse(pyseccomp, rules, "ioctl", errno.EPERM, argument)
    for family in set(range(max(SOCKETS))) - SOCKETS:
        argument = pyseccomp.Arg(0, pyseccomp.EQ, family)
        _refuse(pyseccomp, rules, "socket", errno.EAFNOSUPPORT, argument)
    above = pyseccomp.Arg(0, pyseccomp.GT, max(SOCKETS))
    _refuse(pyseccomp, rules, "socket", errno.EAFNOSUPPORT, above)
    descriptor = os.memfd_create("seccomp")
    with os.fdopen(descriptor, "rb") as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()


def _library() -> Any:
    """Loaded only now, so that a server without it starts and can report what is missing."""
    try:
        import pyseccomp  # noqa: PLC0415
    except (ImportError, OSError, RuntimeError) as error:
        raise CannotLaunch(f"libseccomp is missing ({error}). {FIX}") from error
    return pyseccomp


def _refuse(library: Any, rules: Any, name: str, number: int, *arguments: Any) -> None:
    try:
        known = library.resolve_syscall(library.system_arch(), name)
    except OSError:
        return
    if known >= 0:  # some exist on other processors only
        rules.add_rule(library.ERRNO(number), name, *arguments)
