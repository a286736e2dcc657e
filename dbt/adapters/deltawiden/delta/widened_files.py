"""The files from before a widening whose rows filters of Spark can miss: see ``stale_types``.

Only the type in a file decides. Once a file is rewritten with the type of the table, every reader
finds its rows.
"""

from collections.abc import Iterable, Sequence

from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.data_files import DataFile, DataFiles, StaleFile, find_stale
from dbt.adapters.deltawiden.delta.float_statistics import leaves_with_statistics
from dbt.adapters.deltawiden.delta.stale_types import (
    misread_by_filters,
    stale_leaves,
    stored_leaves,
)
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import Path


def misread_columns(
    changes: Iterable[TypeChange], schema: StructType, partition_columns: Iterable[str]
) -> tuple[Path, ...]:
    """Find the columns and struct fields that filters misread in files with an older type.

    The type in a file can be any that a column had before, so that each one is compared with the
    type that the column has now. Spark filters partition columns by the log, not by the files.
    """
    partitioned_by = {name.lower() for name in partition_columns}
    # Nothing inside an array or a map has statistics, and Spark makes no Parquet filters on it.
    leaves = leaves_with_statistics(schema)
    found = (
        change.path
        for change in changes
        if change.path in leaves
        and change.path[0].lower() not in partitioned_by
        and misread_by_filters(change.from_type, leaves[change.path])
    )
    return tuple(dict.fromkeys(found))


def misread_files(
    files: DataFiles, listed: Sequence[DataFile], schema: StructType, columns: Sequence[Path]
) -> Sequence[StaleFile]:
    """Read the types in all files, and find those in which filters misread one of the columns."""
    return list(
        find_stale(files, listed, schema, lambda leaf: leaf.is_misread and leaf.path in columns)
    )


_FILES_AT_ONCE = 32


def has_misread_files(files: DataFiles, schema: StructType, columns: Sequence[Path]) -> bool:
    """Return whether filters misread one of these columns in any file, mostly from a few files.

    The files are read from the oldest on. A file that has the newest type of a column was written
    after the column was widened, and so were all files after it.
    """
    listed = sorted(files.list(), key=lambda file: file.modified)
    left = set(columns)
    for first in range(0, len(listed), _FILES_AT_ONCE):
        found: set[Path] = set()
        for _, stored in files.schemas(listed[first : first + _FILES_AT_ONCE]):
            stale = stale_leaves(stored, schema)
            if any(leaf.is_misread and leaf.path in left for leaf in stale):
                return True
            found |= stored_leaves(stored, schema) - {leaf.path for leaf in stale}
        left -= found
        if not left:
            break
    return False
