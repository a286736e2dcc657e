"""The user's cache folder, for programs and secrets of dbt: no other user can write to it."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path


class NotPrivate(OSError):
    """A folder that other users can write to. The message says what is needed and what is there."""


def cache_root(environment: Mapping[str, str]) -> Path:
    """Return this adapter's folder in the user's cache folder. It may not exist."""
    # https://specifications.freedesktop.org/basedir-spec/latest/ (XDG_CACHE_HOME)
    cache = environment.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache, "dbt-deltawiden")


def cache_folder(environment: Mapping[str, str], *names: str) -> Path:
    """Make and return this adapter's folder in the user's cache folder, or a folder inside it.

    Raises:
        OSError: it can't be made, or it is not the user's alone.
    """
    root = cache_root(environment)
    if root.parts[0].startswith("~"):
        raise NotPrivate(
            "a folder of its own, and the user of dbt has no home folder. Set XDG_CACHE_HOME to a "
            "folder"
        )
    if root.is_symlink() and os.name == "posix" and root.lstat().st_uid == os.geteuid():
        root = root.resolve()  # The user's own link.
    folder = private_folder(root)
    for name in names:
        folder = private_folder(folder / name)
    return folder


def private_folder(folder: Path) -> Path:
    """Make a folder if it does not exist, and close it to other users.

    Raises:
        NotPrivate: another user can have made it.
        OSError: it can't be made or closed.
    """
    if folder.is_symlink():
        raise NotPrivate(
            f"a folder of its own, and {folder} is a symbolic link: another "
            "user may have made it. Remove the link, or set XDG_CACHE_HOME to another folder"
        )
    for missing in [each for each in reversed(folder.parents) if not each.exists()]:
        # With parents=True, mkdir would give them the mode of the umask alone.
        missing.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if os.name == "posix" and status.st_uid != os.geteuid():
        raise NotPrivate(
            f"a folder that belongs to the user of dbt, and {folder} belongs "
            f"to the user with the id {status.st_uid}. Set XDG_CACHE_HOME to another folder"
        )
    if os.name == "posix" and status.st_mode & 0o077:
        folder.chmod(0o700)
        if folder.lstat().st_mode & 0o077:
            raise NotPrivate(
                f"a folder of its own, and other users can use it: the file system of {folder} has "
                "no permissions. Set XDG_CACHE_HOME to another folder"
            )
    return folder


def is_own_folder(path: Path) -> bool:
    """Return whether a path is a folder of the user's, and no link to one."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and (os.name != "posix" or status.st_uid == os.geteuid())
