"""Parse versions into numbers that can be compared."""

import re

Version = tuple[int, ...]


def read_version(text: str) -> Version:
    match = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(number) for number in match.group().split(".")) if match else ()
