"""The folder of a node's table, which ``location_root`` decides, and comparisons of folders."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dbt.adapters.deltawiden.config.materializations import NO_TABLE
from dbt.adapters.deltawiden.sql.identifiers import Path

LOCATION_KEYS = ("location_root", "include_full_name_in_path", "owns_location")
"""The configuration keys that decide where a table is, and whose it is."""

_URI = re.compile(
    r"(?:(?P<scheme>[A-Za-z][\w+.-]*):)?(?://(?P<authority>[^/]*))?(?P<path>.*)", re.S
)
# Names of one file system: https://hadoop.apache.org/docs/stable/hadoop-aws/tools/hadoop-aws/
_SAME_SCHEMES = {"file": "", "s3a": "s3", "s3n": "s3"}


def is_absolute(folder: str) -> bool:
    """Return whether a folder is the same one for Spark's metastore and for Delta.

    The metastore takes a relative path from the schema's folder, and Delta from the working folder.
    """
    return folder.startswith("/") or bool(_URI.fullmatch(folder)["scheme"])  # type: ignore[index]


def table_folder(config: Any, schema: Path, alias: str) -> str | None:
    """Return the folder of a node's table.

    Args:
        schema: the parts of the name of its schema, with the catalog if there is one.

    Returns:
        The path or URI; None if the metastore decides where the table is.

    Source:
        https://docs.getdbt.com/reference/resource-configs/databricks-configs
        (``include_full_name_in_path``)
    """
    root = config.get("location_root")
    if not root:
        return None
    is_full = config.get("include_full_name_in_path") is True
    return "/".join([root.rstrip("/"), *(schema if is_full else ()), alias])


def has_table(config: Any) -> bool:
    """Return whether a node has a table, as far as its materialization is known."""
    return config.get("materialized") not in NO_TABLE


@dataclass(frozen=True)
class Place:
    """A folder, to be compared with others.

    The case of letters is ignored, because not every file system distinguishes it.

    Attributes:
        scheme: the scheme of its URI; empty for a path of this machine, or of the default one.
        authority: what the URI has as a host or a bucket.
    """

    scheme: str
    authority: str
    parts: Path

    @classmethod
    def of(cls, folder: str) -> "Place":
        """Read a path or URI."""
        found = _URI.fullmatch(folder)
        assert found is not None  # It matches every text.
        scheme = (found["scheme"] or "").lower()
        path = posixpath.normpath(f"/{found['path']}").casefold()
        parts = tuple(part for part in path.split("/") if part)
        return cls(_SAME_SCHEMES.get(scheme, scheme), (found["authority"] or "").lower(), parts)

    def may_be(self, other: "Place") -> bool:
        """Return whether both are one folder, if a missing scheme or host is the default one."""
        return (
            self.parts == other.parts
            and (not self.scheme or not other.scheme or self.scheme == other.scheme)
            and (not self.authority or not other.authority or self.authority == other.authority)
        )

    def and_above(self) -> "Iterator[Place]":
        """Yield the place itself, and each folder that it is in."""
        for count in range(len(self.parts), 0, -1):
            yield Place(self.scheme, self.authority, self.parts[:count])


def overlaps(folders: Mapping[str, str]) -> dict[str, str]:
    """Find the nodes whose folder is also another node's, or is in it, or contains it.

    Each one is returned with another one of them.
    """
    nodes = defaultdict(list)
    for node, folder in folders.items():
        nodes[Place.of(folder)].append(node)
    found: dict[str, str] = {}
    for node, folder in folders.items():
        for place in Place.of(folder).and_above():
            for other in nodes.get(place, ()):
                if other != node:
                    found.setdefault(node, other)
                    found.setdefault(other, node)
    return found
