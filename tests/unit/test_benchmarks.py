"""The parts of the benchmarks that measure nothing: turns, statistics, results, the page."""

import re
import subprocess
import sys
from dataclasses import asdict
from pkgutil import resolve_name

import pytest
import yaml

import benchmarks.__main__ as command
from benchmarks.__main__ import BENCHMARKS, main
from benchmarks.chart import bars, draw
from benchmarks.child import peak_memory
from benchmarks.harness import Benchmark, Rounds, in_turns
from benchmarks.machine import Environment
from benchmarks.merge_models import is_merge
from benchmarks.page import page
from benchmarks.parsing import FakeJava
from benchmarks.project import RIDES
from benchmarks.rental import files
from benchmarks.results import HEADING, Comparison, Sample, row
from benchmarks.store import Measured, Results, load, save
from benchmarks.workspace import PLANNING, ProcessRun, added_options
from tests.unit.pages import tables

HERE = Environment({"cores": "2"}, {"Spark": "4.1.4", "Delta": "4.4.0"})
ELSEWHERE = Environment({"cores": "8", "memory": "64 GiB"}, {"Spark": "4.1.4"})
MET = Comparison("merges", Sample("ours", (1.0, 3.0, 2.0)), Sample("theirs", (4.0,) * 3), aim=0.5)
MISSED = Comparison("start", Sample("ours", (0.0301, 0.02)), Sample("theirs", (0.02,)), aim=1.2)
WITHOUT_AIM = Comparison("drop", Sample("`a`", (123.456,)), Sample("`b`", (61.728,)))
MEMORY = Comparison("memory", Sample("50 M", (1.5, 1.4, 1.6)), Sample("5 M", (1.5,)), 1.2, "GB")
TWO = [Benchmark(name, f"How {name} is measured.", lambda quick: []) for name in ("one", "two")]
RESULTS = (
    Results()
    .with_result("two", Measured("c2", ELSEWHERE, (MISSED, WITHOUT_AIM)))
    .with_result("one", Measured("c1", HERE, (MET, MEMORY)))
)


def cells(comparison: Comparison) -> list[str]:
    ((_, only),) = tables("\n".join([HEADING, row(comparison), ""]))
    return only


# Turns


def test_the_programs_take_turns_and_the_warm_up_does_not_count():
    ran: list[str] = []

    def program(name: str):
        def run() -> dict[str, float]:
            ran.append(name)
            return {"whole": float(len(ran)), "part": len(ran) / 10}

        return run

    taken = in_turns({name: program(name) for name in "AB"}, Rounds(measured=2, warm_up=1))
    assert "".join(ran) == "ABABAB"
    assert taken == {
        "A": {"whole": (3.0, 5.0), "part": (0.3, 0.5)},
        "B": {"whole": (4.0, 6.0), "part": (0.4, 0.6)},
    }


def test_a_full_run_has_five_rounds_after_a_warm_up():
    assert Rounds.of(quick=False) == Rounds(measured=5, warm_up=1)
    assert Rounds.of(quick=False, measured=3) == Rounds(measured=3, warm_up=1)


def test_the_methods_that_are_timed_exist():
    for name in PLANNING:
        assert callable(resolve_name(name))


def test_a_script_gets_the_options_of_a_jvm_that_spark_does_not_add_itself():
    added = ["-XX:+UseParallelGC", "-XX:SharedArchiveFile=/a b.jsa", "-Xshare:auto"]
    of_spark = ["-Xmx4g", "-XX:+IgnoreUnrecognizedVMOptions", "--add-opens=a/b=c", "-Dx=y"]
    assert added_options([*of_spark, *added]) == added


def test_the_document_of_a_run_is_the_only_line_with_json():
    run = ProcessRun(1.0, 1.0, [], {}, {}, 'Spark is starting.\n{"tables": []}\n')
    assert run.document == {"tables": []}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the memory of a process")
def test_the_peak_memory_is_that_of_all_processes_that_still_exist():
    own = peak_memory("self")
    assert own > 10_000_000
    assert peak_memory("self", "self", "ended") >= 2 * own


def test_a_call_of_java_is_noted(tmp_path):
    java = FakeJava(tmp_path / "java")
    assert java.calls == []
    by_home = f"{java.variables['JAVA_HOME']}/bin/java"
    for call in ([by_home, "-version"], ["java", "-cp", "a"]):
        assert subprocess.run(call, env=java.variables, check=False).returncode == 1
    assert java.calls == ["-version", "-cp a"]


# The project of a bicycle rental


def test_the_seeds_are_the_same_every_time():
    assert files(rides=240) == files(rides=240)
    assert files(rides=240)["seeds/raw_rides.csv"].count("\n") == 1 + 240


def test_the_method_of_project_counts_what_is_in_it():
    texts = files(RIDES)
    models = [path for path in texts if path.startswith("models/") and path.endswith(".sql")]
    views = [path for path in models if "/marts/" not in path]
    incremental = [path for path in models if "materialized='incremental'" in texts[path]]
    pages = [yaml.safe_load(text) for path, text in texts.items() if re.match("models/.*yml", path)]
    columns = [each for page in pages for model in page["models"] for each in model["columns"]]
    data_tests = sum(len(column["data_tests"]) for column in columns)
    unit_tests = sum(len(page.get("unit_tests", ())) for page in pages)
    seeds = [path for path in texts if path.startswith("seeds/")]
    assert (
        f"{len(seeds)} seeds, of which the largest has {RIDES:,} rows, {len(views)} views, "
        f"{len(models) - len(views) - len(incremental)} tables, {len(incremental)} incremental "
        f"models (`merge`), {data_tests} data tests and {unit_tests} unit tests."
    ) in " ".join(BENCHMARKS["project"].method.split())


# Statistics


def test_a_ratio_is_that_of_the_medians():
    assert (MET.ours.median, MET.ours.spread) == (2.0, (1.0, 3.0))
    assert (MET.ratio, MET.is_met) == (0.5, True)
    assert MISSED.is_met is False
    assert WITHOUT_AIM.is_met is None


def test_what_was_not_measured_is_no_sample():
    with pytest.raises(ValueError, match="ours was not measured"):
        Sample("ours", ())


def test_a_row_has_medians_spreads_ratio_and_aim():
    assert cells(MET) == [
        *("merges", "ours", "2.00 (1.00 to 3.00)", "theirs", "4.00 (4.00 to 4.00)"),
        *("0.500", "<= 0.5", "met"),
    ]
    assert cells(MISSED)[2] == "0.0250 (0.0200 to 0.0301)"
    assert cells(MISSED)[5:] == ["1.25", "<= 1.2", "**not met**"]
    assert cells(WITHOUT_AIM)[2] == "123 (123 to 123)"
    assert cells(WITHOUT_AIM)[5:] == ["2.00", "", ""]


def test_a_row_about_memory_has_the_unit():
    assert cells(MEMORY)[2] == "1.50 GB (1.40 to 1.60)"
    assert cells(MEMORY)[4:] == ["1.50 GB (1.50 to 1.50)", "1.00", "<= 1.2", "met"]


def test_a_result_that_was_saved_without_a_unit_has_seconds():
    saved = asdict(MET)
    del saved["unit"]
    assert Comparison.from_json(saved) == MET


@pytest.mark.parametrize(
    "statement",
    [
        "merge into t",
        "\n /* {} */\n-- kept for old arguments\n  MERGE INTO t",
        "-- a\n/* b\n c */ merge\ninto t",
    ],
)
def test_a_merge_is_recognised_behind_comments(statement: str):
    assert is_merge(statement)


@pytest.mark.parametrize("statement", ["select 1 -- merge into t", "/* merge into t */ select 1"])
def test_a_statement_that_only_mentions_a_merge_is_not_one(statement: str):
    assert not is_merge(statement)


# The file of results


def test_results_of_several_runs_and_machines_are_kept_together(tmp_path):
    file = tmp_path / "new" / "results.json"
    for name, measured in RESULTS.measured.items():
        save(load(file).with_result(name, measured), file)
    assert load(file) == RESULTS
    newer = Measured("c3", ELSEWHERE, (MISSED,))
    save(load(file).with_result("one", newer), file)
    assert load(file).measured == {**RESULTS.measured, "one": newer}


# The page


def test_the_page_has_every_result_in_the_order_of_the_benchmarks():
    text = page(RESULTS, TWO)
    results, environments = tables(text)
    assert [each[0] for each in results[1:]] == ["merges", "memory", "start", "drop"]
    assert environments == [
        ["", "1", "2"],
        ["cores", "2", "8"],
        ["Spark", "4.1.4", "4.1.4"],
        ["Delta", "4.4.0", ""],
        ["memory", "", "64 GiB"],
    ]
    assert "### one\n\nHow one is measured.\n\nMeasured at c1, in environment 1.\n" in text
    assert "### two\n\nHow two is measured.\n\nMeasured at c2, in environment 2.\n" in text


def test_results_from_one_machine_have_one_environment():
    again = RESULTS.with_result("two", Measured("c3", HERE, (MISSED,)))
    _, environments = tables(page(again, TWO))
    assert environments[0] == ["", "1"]


def test_the_page_leaves_out_what_was_not_measured_yet():
    text = page(Results().with_result("two", RESULTS.measured["two"]), TWO)
    results, _ = tables(text)
    assert [each[0] for each in results[1:]] == ["start", "drop"]
    assert re.findall("^### (.+)", text, re.MULTILINE) == ["two"]


def test_a_bar_is_the_ratio_as_a_part_of_its_aim():
    shown = bars([MET, MISSED, WITHOUT_AIM])
    assert [(each.length, each.is_met) for each in shown] == [
        (1.0, True),
        (pytest.approx(1.2525 / 1.2), False),
    ]
    assert shown[0].text == "0.5 (aim 0.5)"


def test_the_same_results_draw_the_same_chart(tmp_path):
    pytest.importorskip("matplotlib")
    files = [tmp_path / name for name in ("a.svg", "b.svg")]
    for file in files:
        draw([MET, MISSED, MET], file)
    first, second = (file.read_text() for file in files)
    assert first == second
    assert first.count("ours against theirs") == 3


# The command line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["merge"], "no benchmark merge; accepted: merges, "),
        (["--page", "merges"], "--page can't be combined"),
        (["--page", "--quick"], "--page can't be combined"),
    ],
)
def test_a_wrong_command_line_says_what_is_right(arguments, said, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert said in capsys.readouterr().err


def test_every_benchmark_says_how_it_measures():
    assert all(each.method.endswith(".") for each in BENCHMARKS.values())
    assert [*BENCHMARKS] == [each.name for each in BENCHMARKS.values()]


def test_a_quick_run_keeps_no_result_and_writes_no_page(monkeypatch, capsys):
    asked: list[bool] = []

    def measure(quick: bool) -> list[Comparison]:
        asked.append(quick)
        return [MET]

    def fail(*_: object) -> None:
        raise AssertionError("a quick run has written something")

    monkeypatch.setattr(command, "BENCHMARKS", {"one": Benchmark("one", "How.", measure)})
    monkeypatch.setattr(command, "write_page", fail)
    monkeypatch.setattr(command.store, "save", fail)
    assert command.main(["--quick"]) == 0
    assert asked == [True]
    assert capsys.readouterr().out.splitlines()[-1] == row(MET)


def test_a_result_is_saved_as_soon_as_it_exists(monkeypatch, tmp_path):
    file = tmp_path / "results.json"
    save(RESULTS, file)
    pages: list[Results] = []

    def fail(quick: bool) -> list[Comparison]:
        raise command.RunFailed("dbt failed")

    benchmarks = [Benchmark("one", "How.", lambda quick: [MISSED]), Benchmark("two", "How.", fail)]
    monkeypatch.setattr(command, "BENCHMARKS", {each.name: each for each in benchmarks})
    monkeypatch.setattr(command, "this_environment", lambda: ELSEWHERE)
    monkeypatch.setattr(command, "commit", lambda: "c3")
    monkeypatch.setattr(command.store, "load", lambda: load(file))
    monkeypatch.setattr(command.store, "save", lambda results: save(results, file))
    monkeypatch.setattr(command, "write_page", lambda: pages.append(load(file)))
    newer = {**RESULTS.measured, "one": Measured("c3", ELSEWHERE, (MISSED,))}
    assert command.main([]) == 1
    assert load(file).measured == newer
    assert pages == []
    assert command.main(["one"]) == 0
    assert [each.measured for each in pages] == [newer]
