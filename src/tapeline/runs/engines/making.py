"""Makes the engine of a machine: of a server's own, or of a node's."""

from tapeline.background import Background
from tapeline.clock import Clock
from tapeline.runs.engines import runtime_files
from tapeline.runs.engines.host_check import Host
from tapeline.runs.engines.local import LocalEngine
from tapeline.runs.environments import substitutes
from tapeline.runs.environments.cache import Environments
from tapeline.runs.environments.install_boxes import Installer
from tapeline.runs.environments.interpreters import Found
from tapeline.settings import Settings
from tapeline.store.blobs import Blobs

INSTALLER_UID = 1_899_999_999


def local_engine(
    settings: Settings,
    blobs: Blobs,
    interpreters: Found,
    name: str,
    host: Host,
    background: Background,
    clock: Clock | None,
    *,
    is_alone: bool,
) -> LocalEngine:
    installer = Installer(
        runtime=runtime_files.folders()[0],
        index=settings.package_index,
        extra_indexes=settings.package_index_extra,
        substitutes=substitutes.by_package() if settings.package_substitutes else {},
        bounds=substitutes.bounds() if settings.package_substitutes else {},
        proxy=settings.package_proxy,
        uid=INSTALLER_UID if host.is_root else None,
        memory_mb=settings.install_memory,
        unsafe=settings.unsafe_no_sandbox,
    )
    environments = Environments(
        settings.data / "environments",
        installer=installer,
        resolution_hours=settings.resolution_hours,
        clock=clock,
    )
    return LocalEngine(
        settings,
        blobs,
        interpreters,
        environments,
        name,
        host.confinement(unsafe=settings.unsafe_no_sandbox),
        background,
        is_alone=is_alone,
    )
