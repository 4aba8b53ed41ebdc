"""The version after this one: the same package with a later number and one more migration."""

import shutil
from pathlib import Path

import tapeline
from tapeline.store import migrate

NUMBER = "9.9.9"
ADDS = "    op.add_column('hosts', sa.Column('of_the_next_version', sa.String))\n"
"""What servers of this version do not notice."""
CHANGES = "    op.alter_column('hosts', 'machine', new_column_name='renamed')\n"
"""What they would fall over."""


def next_version(folder: Path, body: str = ADDS, *, goes_beside: bool = True) -> Path:
    """A folder for PYTHONPATH, in a checkout of its own: servers look for what runs beside models
    next to their package."""
    here, package = Path(tapeline.__file__).parent, folder / "src" / "tapeline"
    left_out = shutil.ignore_patterns("__pycache__", "docs", "node_modules")
    shutil.copytree(here, package, ignore=left_out)
    for beside in ("runtime", "client"):
        (folder / beside).symlink_to(here.parents[1] / beside)
    number = package / "__init__.py"
    number.write_text(number.read_text().replace(tapeline.__version__, NUMBER))
    before = migrate.head()
    revision = f"{int(before) + 1:04}"
    versions = package / "store" / "migrations" / "versions"
    (versions / f"{revision}_next.py").write_text(
        "import sqlalchemy as sa\nfrom alembic import op\n"
        f"revision = '{revision}'\ndown_revision = '{before}'\n"
        f"goes_beside = {goes_beside}\n"
        f"def upgrade() -> None:\n{body}"
    )
    return package.parent
