"""A package index on this machine, with packages made on the spot."""

import hashlib
import io
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Quiet(SimpleHTTPRequestHandler):
    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


class PackageIndex:
    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url

    def add_wheel(
        self, name: str, version: str, files: dict[str, str], *, requires: str = ""
    ) -> None:
        info = f"{name}-{version}.dist-info"
        needed = f"Requires-Dist: {requires}\n" if requires else ""
        contents = files | {
            f"{info}/METADATA": _metadata(name, version) + needed,
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        contents[f"{info}/RECORD"] = "".join(
            f"{path},,\n" for path in [*contents, f"{info}/RECORD"]
        )
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as wheel:
            for path, text in contents.items():
                wheel.writestr(path, text)
        self._add(name, f"{name}-{version}-py3-none-any.whl", data.getvalue())

    def add_source(self, name: str, version: str, files: dict[str, str]) -> None:
        data = io.BytesIO()
        metadata = _metadata(name, version)
        with tarfile.open(fileobj=data, mode="w:gz") as archive:
            for path, text in ({"PKG-INFO": metadata} | files).items():
                entry = tarfile.TarInfo(f"{name}-{version}/{path}")
                entry.size = len(text.encode())
                archive.addfile(entry, io.BytesIO(text.encode()))
        self._add(name, f"{name}-{version}.tar.gz", data.getvalue())

    def _add(self, name: str, file: str, data: bytes) -> None:
        folder = self.folder / "simple" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(data)
        page = folder / "index.html"
        link = f'<a href="{file}#sha256={hashlib.sha256(data).hexdigest()}">{file}</a>\n'
        page.write_text((page.read_text() if page.exists() else "") + link)


def _metadata(name: str, version: str) -> str:
    return f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"


@contextmanager
def serve_packages(folder: Path) -> Iterator[PackageIndex]:
    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield PackageIndex(folder, f"http://127.0.0.1:{server.server_address[1]}/simple")
        server.shutdown()
        thread.join()


def builder(during_build: str) -> dict[str, str]:
    """A source package that needs nothing to be built, and runs `during_build` while it is.

    What that prints to `told` becomes the module's text.
    """
    backend = f"""
import io, os, zipfile
def get_requires_for_build_wheel(config_settings=None):
    return []
def build_wheel(folder, config_settings=None, metadata_directory=None):
    told = io.StringIO()
{chr(10).join("    " + line for line in during_build.splitlines())}
    info = "homemade-1.0.dist-info/"
    files = {{
        "homemade.py": "TOLD = " + repr(told.getvalue()),
        info + "METADATA": "Metadata-Version: 2.1\\nName: homemade\\nVersion: 1.0\\n",
        info + "WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }}
    files[info + "RECORD"] = "".join(name + ",,\\n" for name in list(files) + [info + "RECORD"])
    with zipfile.ZipFile(os.path.join(folder, "homemade-1.0-py3-none-any.whl"), "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return "homemade-1.0-py3-none-any.whl"
"""
    project = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "homemade"
version = "1.0"
"""
    return {"pyproject.toml": project, "backend.py": backend}
