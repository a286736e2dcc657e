"""What spark-submit is given."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dbt.adapters.deltawiden.spark.submit import submission, submitted_settings


def given(arguments: str, settings: dict[str, str], defaults: Path, options: str = "") -> list[str]:
    """Return the words of spark-submit, with the text of its file as the second one."""
    environment = {"PYSPARK_SUBMIT_ARGS": arguments} if arguments else {}
    with submission(settings, options, defaults, environment) as submitted:
        option, file, *words = shlex.split(submitted.arguments)
        assert option == "--properties-file"
        assert all(os.fstat(each).st_nlink == 0 for each in submitted.files)
        return [option, Path(file).read_text(encoding="utf-8"), *words]


def test_no_setting_is_an_argument(tmp_path: Path):
    arguments = "--conf spark.a=1 -c spark.b=2 --driver-memory=3g --verbose pyspark-shell"
    _, text, *words = given(arguments, {"spark.c": "4", "spark.a": "5"}, tmp_path / "missing")
    assert words == ["--verbose", "pyspark-shell"]
    lines = text.split()
    assert lines == ["spark.a=5", "spark.b=2", "spark.driver.memory=3g", "spark.c=4"]


def test_the_defaults_come_first_as_they_are(tmp_path: Path):
    defaults = tmp_path / "spark-defaults.conf"
    defaults.write_text("# mine\nspark.a  1 \\\n2")
    _, text, *words = given("", {"spark.a": "3"}, defaults)
    assert text == "# mine\nspark.a  1 \\\n2\n\nspark.a=3\n"
    assert words == ["pyspark-shell"]


def test_the_defaults_need_not_be_utf_8(tmp_path: Path):
    defaults = tmp_path / "spark-defaults.conf"
    defaults.write_bytes("# für\nspark.a 1".encode("latin-1"))
    _, text, *_ = given("", {}, defaults)
    assert text == "# f\ufffdr\nspark.a 1\n\n"


def test_the_user_s_file_replaces_the_defaults(tmp_path: Path):
    defaults, own = tmp_path / "spark-defaults.conf", tmp_path / "own.conf"
    defaults.write_text("spark.a 1")
    own.write_text("spark.b 2")
    _, text, *words = given(f"--properties-file {own} --name x pyspark-shell", {}, defaults)
    assert text == "spark.b 2\n\n"
    assert words == ["--name", "x", "pyspark-shell"]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("jdbc:derby:m;create=true", r"jdbc\u003aderby\u003am\u003bcreate\u003dtrue"),
        (" a\\b\n", r"\u0020a\u005cb\u000a"),
        ("ü😀", r"\u00fc\ud83d\ude00"),
    ],
)
def test_each_character_survives_the_format_of_java(tmp_path: Path, value: str, written: str):
    _, text, *_ = given("", {"spark.x y": value}, tmp_path / "missing")
    assert text.strip() == rf"spark.x\u0020y={written}"


ENDS = """
import sys, threading
from pathlib import Path
from dbt.adapters.deltawiden.spark.submit import submission
sys.platform = "darwin"
def start(is_started):
    with submission({"spark.a": "secret"}, "", Path("missing"), {}):
        is_started.set()
        threading.Event().wait()
is_started = threading.Event()
threading.Thread(target=start, args=[is_started], daemon=True).start()
assert is_started.wait(60)
"""


def test_nothing_is_left_of_a_command_that_ends_while_spark_starts(tmp_path: Path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", ENDS], env=environment, check=True)
    assert [*tmp_path.iterdir()] == []


def test_secret_java_options_are_in_a_file_of_their_own(tmp_path: Path):
    settings = {"spark.driver.extraJavaOptions": "-Dx=secret", "spark.a": "1"}
    _, text, *_ = given("", settings, tmp_path / "missing", '"-Dx=secret"')
    assert "secret" not in text
    assert "VMOptionsFile" in text


def test_the_settings_in_the_arguments_of_spark_submit_are_read():
    arguments = "--master local[2] --conf spark.a=b=c --packages x:y:1 pyspark-shell"
    assert submitted_settings({"PYSPARK_SUBMIT_ARGS": arguments}) == {
        "spark.master": "local[2]",
        "spark.a": "b=c",
        "spark.jars.packages": "x:y:1",
    }


def test_the_value_of_an_option_can_look_like_an_option():
    options = "--add-opens=java.base/java.lang=ALL-UNNAMED"
    for given in (f"--driver-java-options '{options}'", f"'--driver-java-options={options}'"):
        arguments = f"{given} --conf a=b pyspark-shell"
        assert submitted_settings({"PYSPARK_SUBMIT_ARGS": arguments}) == {
            "spark.driver.extraJavaOptions": options,
            "a": "b",
        }
