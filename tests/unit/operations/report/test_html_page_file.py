"""A page replaces an earlier page, and no other file."""

import os
from pathlib import Path

import pytest
from dbt_common.exceptions import CompilationError

from dbt.adapters.deltawiden.operations.forecast.results import PlanResults
from dbt.adapters.deltawiden.operations.report.html_page import (
    check_page_file,
    is_page,
    page_of,
    write_page,
)
from dbt.adapters.deltawiden.operations.report.report_type_widening import ReportResults

PAGES = [
    page_of(PlanResults("plan", [])),
    page_of(PlanResults("check_type_widening", [])),
    page_of(ReportResults("report_type_widening", [])),
]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_written_into_a_new_folder_and_replaced(tmp_path: Path, page: str):
    file = tmp_path / "a b%20 #ü" / "page.html"
    assert write_page("plan", file, page) == str(file)
    assert file.read_text(encoding="utf-8") == page
    assert is_page(file)
    file.chmod(0o640)
    write_page("plan", file, PAGES[0])
    assert file.read_text(encoding="utf-8") == PAGES[0]
    assert file.stat().st_mode & 0o777 == 0o640
    assert os.listdir(file.parent) == ["page.html"]


@pytest.mark.parametrize("text", ["name: shop\n", "", "<!doctype html>\n<html><title>plan</title>"])
def test_another_file_is_not_replaced(tmp_path: Path, text: str):
    file = tmp_path / "dbt_project.yml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(CompilationError, match="a file is there that is not a page"):
        write_page("plan", file, PAGES[0])
    assert file.read_text(encoding="utf-8") == text


def test_a_link_is_not_followed(tmp_path: Path):
    (tmp_path / "page.html").write_text(PAGES[0], encoding="utf-8")
    for target in ("page.html", "absent.html"):
        link = tmp_path / f"to_{target}"
        link.symlink_to(tmp_path / target)
        with pytest.raises(CompilationError, match="it is a link"):
            check_page_file("plan", link)


def test_a_folder_and_a_file_in_the_way_are_said_in_words(tmp_path: Path):
    with pytest.raises(CompilationError, match=r"plan: the page .*: it is a folder"):
        check_page_file("plan", tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(CompilationError, match=r"written to .*page.html: \w+"):
        check_page_file("plan", tmp_path / "file" / "page.html")
