"""Replace a file in one step."""

import os
import secrets
import shutil
from pathlib import Path


def write_atomically(file: Path, text: str, private: bool = False) -> None:
    """Write a file's text in one step, so that no reader finds half of it. Its mode stays.

    Its line ends are written as they are. The file need not exist. A link to a file is followed.

    Args:
        private: whether a new file can only be read by its user.
    """
    real = file.resolve()
    temporary = real.with_name(f".{real.name}.{secrets.token_hex(4)}")
    try:
        temporary.touch(0o600 if private else 0o666, exist_ok=False)
        with temporary.open("w", encoding="utf-8", newline="") as opened:
            opened.write(text)
        if real.exists():
            shutil.copymode(real, temporary)
        os.replace(temporary, real)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
