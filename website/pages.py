"""Make the site from pages that are also read in the repository, where links point to files."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
OF_THE_REPOSITORY = ("README", "CONTRIBUTING", "SECURITY", "CODE_OF_CONDUCT", "CHANGELOG")

_LINK = re.compile(r"\]\(([^)\s]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/, and the pictures of these pages."""
    for name in OF_THE_REPOSITORY:
        text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
        files.append(File.generated(config, f"{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: object, config: MkDocsConfig, files: Files) -> str:
    """Point links to where the pages are on the site; a link to any other file becomes its name."""
    return _LINK.sub(lambda link: f"]({_on_site(link[1], files)})", markdown)


def _on_site(link: str, files: Files) -> str:
    path, hash, anchor = link.partition("#")
    short = path.removeprefix("docs/").removeprefix("../")
    return f"{short}{hash}{anchor}" if files.get_file_from_path(short) else link
