"""The files of a project and of its packages, and the lines of what they configure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt.adapters.deltawiden.config.project_macros import BUILT_IN
from dbt.adapters.deltawiden.operations.project.finding import FileLine
from dbt.adapters.deltawiden.operations.selection import Node

_SUFFIXES = (".sql", ".yml", ".yaml")


@dataclass(frozen=True)
class ProjectFiles:
    """The files of a project and of its packages, by dbt's configuration of the project."""

    config: Any

    def each(self) -> Iterator[Path]:
        """Yield each file in which dbt reads Jinja."""
        for name, project in self._projects().items():
            if name in BUILT_IN:
                continue
            root = Path(project.project_root)
            yield root / "dbt_project.yml"
            for folder in sorted({*project.all_source_paths, *project.macro_paths}):
                for file in sorted(Path(root, folder).rglob("*")):
                    if file.suffix in _SUFFIXES and file.is_file():
                        yield file

    def place(self, file: Path, line: int) -> FileLine:
        """Return where a line of a file is, for people."""
        root = Path(self.config.project_root)
        packages = ((name, Path(each.project_root)) for name, each in self._projects().items())
        package = next(
            (name for name, each in packages if each in file.parents and each != root), ""
        )
        shown = file.relative_to(root) if root in file.parents else file
        return FileLine(str(shown), line, package)

    def node_file(self, node: Node) -> Path:
        """Return the file of a node."""
        return self._root(node) / str(node["original_file_path"])

    def of_node(self, node: Node, *words: str) -> FileLine:
        """Return where a node is configured: the first line that has one of the words.

        It is in the node's file, in its YAML file or in dbt_project.yml; else the file itself.
        """
        root = self._root(node)
        patch = str(node.get("patch_path") or "").partition("://")[2]
        files = [self.node_file(node), *([root / patch] if patch else [])]
        for file in [*files, root / "dbt_project.yml"]:
            if line := line_with(file, *words):
                return self.place(file, line)
        return self.place(files[0], 1)

    def of_macro(self, macro: Any) -> FileLine:
        """Return where a macro is defined."""
        file = Path(self._projects()[macro.package_name].project_root, macro.original_file_path)
        return self.place(file, line_with(file, f"macro {macro.name}(") or 1)

    def _root(self, node: Node) -> Path:
        return Path(self._projects()[str(node["package_name"])].project_root)

    def _projects(self) -> Mapping[str, Any]:
        projects: Mapping[str, Any] = self.config.load_dependencies()
        return projects


def line_with(file: Path, *words: str) -> int:
    """Return the first line of a file that has one of the words. 0 if there is none."""
    lines = file.read_text(encoding="utf-8").splitlines() if words and file.is_file() else []
    found = (at for at, line in enumerate(lines, 1) if any(word in line for word in words))
    return next(found, 0)
