"""The file that an operation writes its page to: one that is absent, or an earlier page."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dbt_common.exceptions import CompilationError

from dbt.adapters.deltawiden.spark.atomic_file import write_atomically

# How the template starts, in each version that has written pages.
_PAGE = re.compile(
    r'<!doctype html>\s*<html lang="en">\s*<head>\s*(?:<meta [^>]*>\s*)*'
    r"<title>(?:check_type_widening|plan|report_type_widening)</title>\s*<style>\s*:root \{"
)
_LONGEST_START = 1000


def check_page_file(operation: str, file: Path) -> None:
    """Check that a page can be written to a file, before the operation runs.

    Raises:
        CompilationError: the file is a folder, a link or something else than a page, or it can't be
            written.
    """
    with _errors_in_words(operation, file):
        if file.is_symlink():
            raise _refused(operation, file, "it is a link. Name the file that it leads to")
        if file.is_dir():
            raise _refused(operation, file, "it is a folder. Name a file in it")
        if file.exists() and not is_page(file):
            raise _refused(
                operation,
                file,
                "a file is there that is not a page of dbt-deltawiden, and it is not replaced. "
                "Name another file, or delete it first",
            )
        file.parent.mkdir(parents=True, exist_ok=True)


def write_page(operation: str, file: Path, page: str) -> str:
    """Check the file, write the page to it in one step, and return the file's absolute path."""
    check_page_file(operation, file)
    with _errors_in_words(operation, file):
        write_atomically(file, page)
    return str(file.resolve())


def is_page(file: Path) -> bool:
    """Return whether a file is a page that an operation has written."""
    with file.open(encoding="utf-8", errors="replace") as opened:
        return bool(_PAGE.match(opened.read(_LONGEST_START)))


@contextmanager
def _errors_in_words(operation: str, file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _refused(operation, file, f"{error.strerror or error}") from error


def _refused(operation: str, file: Path, why: str) -> CompilationError:
    return CompilationError(f"{operation}: the page can't be written to {file}: {why}.")
