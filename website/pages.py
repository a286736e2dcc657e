"""Make the site from pages that are also read in the repository, where links point to files."""

import re
import sys
from pathlib import Path
from zipfile import ZipFile

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
# The file in the repository, and its page. MkDocs takes a README.md for the page of its folder.
OF_THE_REPOSITORY = {
    "README.md": "start.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "SECURITY.md": "SECURITY.md",
    "CODE_OF_CONDUCT.md": "CODE_OF_CONDUCT.md",
    "CHANGELOG.md": "CHANGELOG.md",
}

MERMAID = "mermaid.min.js"
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/, and the script for diagrams."""
    for name, page in OF_THE_REPOSITORY.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    (wheel,) = Path(sys.prefix).glob("artoo_mermaid-*.whl")  # `make docs` has downloaded it.
    with ZipFile(wheel) as packed:
        script = packed.read("artoo_mermaid/assets/mermaid.min.js")
    files.append(File.generated(config, MERMAID, content=script))
    return files


def on_page_content(html: str, page: object, config: MkDocsConfig, files: Files) -> str:
    """Load the script for diagrams where there is one: the theme would load it from a server."""
    has_diagram = '<pre class="mermaid">' in html
    return f'{html}<script src="{MERMAID}"></script>' if has_diagram else html


def on_page_markdown(markdown: str, page: object, config: MkDocsConfig, files: Files) -> str:
    """Point links between files of the repository to the pages of the site."""
    return _LINK.sub(lambda link: f"]({_on_site(link[1], files)})", markdown)


def _on_site(link: str, files: Files) -> str:
    path, hash, anchor = link.partition("#")
    short = path.removeprefix("docs/").removeprefix("../")
    short = OF_THE_REPOSITORY.get(short, short)
    return f"{short}{hash}{anchor}" if files.get_file_from_path(short) else link
