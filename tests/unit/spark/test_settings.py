"""The settings that Spark starts with, and their precedence."""

import sys
from pathlib import Path

import delta
import pyspark
import pytest

from dbt.adapters.deltawiden.spark.machine import cores
from dbt.adapters.deltawiden.spark.settings import (
    AUTOMATIC_WIDENING,
    CATALOG,
    EXTENSION,
    iceberg_settings,
)
from dbt.adapters.deltawiden.spark.start import SparkStart

Environment = dict[str, str]

ONE_MACHINE = {
    "spark.authenticate",
    "spark.driver.host",
    "spark.driver.bindAddress",
    "spark.driver.memory",
    "spark.ui.enabled",
    "spark.ui.showConsoleProgress",
    "spark.sql.shuffle.partitions",
    "spark.databricks.delta.snapshotPartitions",
    "spark.databricks.delta.allFilesInCrc.enabled",
}
PACKAGES = "spark.jars.packages"
EXTENSIONS = "spark.sql.extensions"


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """An environment without any configuration of Spark."""
    monkeypatch.delenv("SPARK_HOME", raising=False)
    folder = tmp_path / "conf"
    folder.mkdir()
    return {"SPARK_CONF_DIR": str(folder)}


def with_defaults(environment: Environment, text: str) -> Environment:
    Path(environment["SPARK_CONF_DIR"], "spark-defaults.conf").write_text(text, encoding="utf-8")
    return environment


def with_arguments(environment: Environment, arguments: str) -> Environment:
    return {**environment, "PYSPARK_SUBMIT_ARGS": f"{arguments} pyspark-shell"}


def items(text: str) -> list[str]:
    return text.split(",")


def delta_coordinates(settings: dict[str, str]) -> list[str]:
    return [item for item in items(settings.get(PACKAGES, "")) if item.startswith("io.delta:")]


def test_without_any_configuration_delta_is_wired_in(environment: Environment):
    settings = SparkStart.read({}, environment).settings
    assert settings[EXTENSIONS] == EXTENSION
    assert settings["spark.sql.catalog.spark_catalog"] == CATALOG
    assert settings["spark.master"] == "local[*]"
    assert settings[AUTOMATIC_WIDENING] == "same_family_type"


def test_the_jars_match_the_installed_pyspark_and_delta(environment: Environment):
    (coordinate,) = delta_coordinates(SparkStart.read({}, environment).settings)
    group, artifact, version = coordinate.split(":")
    spark_minor = ".".join(pyspark.__version__.split(".")[:2])
    assert (group, artifact) == ("io.delta", f"delta-spark_{spark_minor}_2.13")
    metadata = next(Path(delta.__file__).parent.parent.glob("delta_spark-*.dist-info"))
    assert metadata.name == f"delta_spark-{version}.dist-info"


def test_every_setting_is_text(environment: Environment):
    for key, value in SparkStart.read({}, environment).settings.items():
        assert isinstance(key, str)
        assert isinstance(value, str)


CHOSEN = [
    "spark.app.name",
    AUTOMATIC_WIDENING,
    "spark.sql.catalog.spark_catalog",
    *sorted(ONE_MACHINE),
]


@pytest.mark.parametrize("key", CHOSEN)
def test_a_parameter_of_the_profile_overrides_the_defaults_of_the_adapter(
    environment: Environment, key: str
):
    assert key in SparkStart.read({}, environment).settings
    assert SparkStart.read({key: "mine"}, environment).settings[key] == "mine"


@pytest.mark.parametrize("key", CHOSEN)
def test_spark_defaults_override_the_defaults_of_the_adapter(environment: Environment, key: str):
    with_defaults(environment, f"{key} theirs\n")
    assert SparkStart.read({}, environment).settings.get(key, "theirs") == "theirs"


@pytest.mark.parametrize("key", CHOSEN)
@pytest.mark.parametrize("option", ["--conf {}=theirs", "-c {}=theirs", "--conf={}=theirs"])
def test_submit_arguments_override_the_defaults_of_the_adapter(
    environment: Environment, key: str, option: str
):
    arguments = with_arguments(environment, option.format(key))
    assert SparkStart.read({}, arguments).settings.get(key, "theirs") == "theirs"


@pytest.mark.parametrize("key", [*CHOSEN, "spark.master", "spark.executor.memory"])
def test_a_parameter_of_the_profile_overrides_the_configuration_of_spark(
    environment: Environment, key: str
):
    with_defaults(environment, f"{key} defaults\n")
    arguments = with_arguments(environment, f"--conf {key}=arguments")
    assert SparkStart.read({key: "mine"}, arguments).settings[key] == "mine"


def test_submit_arguments_override_spark_defaults(environment: Environment):
    with_defaults(environment, "spark.master yarn\n")
    settings = SparkStart.read({}, with_arguments(environment, "--master local[2]")).settings
    assert settings.keys() >= ONE_MACHINE


@pytest.mark.parametrize("line", ["spark.ui.enabled true", "spark.ui.enabled=true"])
@pytest.mark.parametrize("pad", ["{}", "  {}  ", "# a comment\n\n{}\n#spark.ui.enabled false"])
def test_spark_defaults_are_read_as_spark_reads_them(environment: Environment, line: str, pad: str):
    with_defaults(environment, pad.format(line))
    assert SparkStart.read({}, environment).settings.get("spark.ui.enabled", "true") == "true"


@pytest.mark.parametrize(
    "line", ["spark.sql.extensions : a.B", "spark.sql.extensions=a.B", "spark.sql.extensions\ta.B"]
)
def test_every_separator_of_a_properties_file_is_known(environment: Environment, line: str):
    with_defaults(environment, line)
    assert items(SparkStart.read({}, environment).settings[EXTENSIONS]) == ["a.B", EXTENSION]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("spark.x a.A,\\\n   b.B", "a.A,b.B"),
        ("spark.x a\\\\\nspark.y b", "a\\"),
        ("spark.x \\\n = a", "a"),
        ("# a comment \\\nspark.x a", "a"),
        ("! a comment\n\n  spark\\.x=a\\tb \\u00fc\\ud83d\\ude00  ", "a\tb ü😀"),
        ("spark.x a\\", "a"),
        ("spark.x", ""),
        ("spark.x a\u2028b=c:d", "a\u2028b=c:d"),
    ],
)
def test_a_file_of_settings_has_the_format_of_java(environment: Environment, text: str, value: str):
    with_defaults(environment, text)
    assert SparkStart.read({}, environment).outside["spark.x"] == value


def test_a_character_that_is_not_utf_8_does_not_stop_dbt(environment: Environment):
    """Spark replaces it."""
    file = Path(environment["SPARK_CONF_DIR"], "spark-defaults.conf")
    file.write_bytes("# für\nspark.x a".encode("latin-1"))
    assert SparkStart.read({}, environment).outside["spark.x"] == "a"


def test_the_user_s_file_of_settings_replaces_spark_defaults(environment: Environment):
    with_defaults(environment, "spark.x defaults\nspark.y defaults")
    own = Path(environment["SPARK_CONF_DIR"], "own.conf")
    own.write_text("spark.x own\nspark.sql.shuffle.partitions 7", encoding="utf-8")
    for option in (f"--properties-file {own}", f"--properties-file={own}"):
        start = SparkStart.read({}, with_arguments(environment, f"{option} --conf spark.z=1"))
        partitions = {"spark.sql.shuffle.partitions": "7"}
        assert start.outside == {"spark.x": "own", **partitions, "spark.z": "1"}
        assert not start.settings.keys() & partitions.keys()
    both = with_arguments(environment, f"--properties-file {own} --load-spark-defaults")
    assert SparkStart.read({}, both).outside == {
        "spark.x": "own",
        "spark.y": "defaults",
        **partitions,
    }


def test_spark_defaults_of_a_spark_home_are_read(tmp_path: Path, environment: Environment):
    home = tmp_path / "spark"
    (home / "conf").mkdir(parents=True)
    (home / "conf" / "spark-defaults.conf").write_text("spark.master yarn\n", encoding="utf-8")
    settings = SparkStart.read({}, {"SPARK_HOME": str(home)}).settings
    assert not settings.keys() & ONE_MACHINE


@pytest.mark.parametrize(
    ("parameters", "variables", "python"),
    [
        ({}, {}, sys.executable),
        ({"spark.pyspark.python": "p"}, {}, "p"),
        ({"spark.pyspark.python": "p", "spark.master": "yarn"}, {}, "p"),
        ({"spark.pyspark.python": "p"}, {"PYSPARK_PYTHON": "q"}, "p"),
        ({}, {"PYSPARK_PYTHON": "q"}, "q"),
        ({"spark.master": "yarn"}, {}, None),  # PySpark's own default
    ],
)
def test_functions_run_with_the_user_s_python_or_that_of_dbt(
    environment: Environment,
    parameters: dict[str, str],
    variables: dict[str, str],
    python: str | None,
):
    assert SparkStart.read(parameters, {**environment, **variables}).python == python


# Values that are joined with the user's values


@pytest.mark.parametrize("source", ["parameters", "defaults", "conf", "option"])
def test_packages_of_the_user_are_kept_beside_delta(environment: Environment, source: str):
    own = "org.example:one:1.0,org.example:two:2.0"
    parameters = {}
    if source == "parameters":
        parameters = {PACKAGES: own}
    elif source == "defaults":
        with_defaults(environment, f"{PACKAGES} {own}\n")
    else:
        option = "--packages" if source == "option" else f"--conf {PACKAGES}="
        environment = with_arguments(environment, f"{option} {own}".replace("= ", "="))
    settings = SparkStart.read(parameters, environment).settings
    assert set(items(settings[PACKAGES])) > set(items(own))
    assert len(delta_coordinates(settings)) == 1


@pytest.mark.parametrize("source", ["parameters", "defaults", "conf"])
def test_extensions_of_the_user_are_kept_beside_delta(environment: Environment, source: str):
    own = "org.example.One,org.example.Two"
    parameters = {}
    if source == "parameters":
        parameters = {EXTENSIONS: own}
    elif source == "defaults":
        with_defaults(environment, f"{EXTENSIONS} {own}\n")
    else:
        environment = with_arguments(environment, f"--conf {EXTENSIONS}={own}")
    settings = SparkStart.read(parameters, environment).settings
    assert items(settings[EXTENSIONS]) == [*items(own), EXTENSION]


def test_an_extension_that_is_there_is_not_named_twice(environment: Environment):
    own = f"org.example.One, {EXTENSION}"
    settings = SparkStart.read({EXTENSIONS: own}, environment).settings
    assert sorted(items(settings[EXTENSIONS])) == [EXTENSION, "org.example.One"]


DELTA_PACKAGES = [
    "io.delta:delta-spark_2.13:4.0.1",
    "io.delta:delta-spark_4.1_2.13:4.4.0",
    "org.example:one:1.0, io.delta:delta-spark_4.1_2.13:4.4.0",
]


@pytest.mark.parametrize("packages", DELTA_PACKAGES)
def test_a_user_who_names_a_delta_package_gets_no_second_one(
    environment: Environment, packages: str
):
    assert SparkStart.read({PACKAGES: packages}, environment).settings[PACKAGES] == packages


@pytest.mark.parametrize("option", ["--packages {}", f"--conf {PACKAGES}={{}}", "--packages={}"])
def test_a_delta_package_in_the_submit_arguments_stays_the_only_one(
    environment: Environment, option: str
):
    arguments = with_arguments(environment, option.format("io.delta:delta-spark_2.13:4.0.1"))
    assert PACKAGES not in SparkStart.read({}, arguments).settings


DELTA_JARS = [
    "/opt/jars/delta-spark_2.13-4.0.1.jar",
    "/opt/jars/other.jar,/opt/jars/delta-spark_4.1_2.13-4.4.0.jar",
    "file:///opt/jars/delta-spark_4.1_2.13-4.4.0.jar",
]


@pytest.mark.parametrize("jars", DELTA_JARS)
@pytest.mark.parametrize("key", ["spark.jars", "spark.driver.extraClassPath"])
def test_a_user_who_names_delta_jars_gets_no_package(environment: Environment, key, jars: str):
    settings = SparkStart.read({key: jars}, environment).settings
    assert PACKAGES not in settings
    assert settings[EXTENSIONS] == EXTENSION


@pytest.mark.parametrize("option", ["--jars", "--driver-class-path"])
def test_delta_jars_in_the_submit_arguments_need_no_package(environment: Environment, option: str):
    arguments = with_arguments(environment, f"{option} /opt/jars/delta-spark_2.13-4.0.1.jar")
    assert PACKAGES not in SparkStart.read({}, arguments).settings


def test_delta_jars_in_the_folder_of_spark_need_no_package(
    tmp_path: Path, environment: Environment, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    (tmp_path / "spark" / "jars" / "delta-spark_4.1_2.13-4.4.0.jar").touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    environment["SPARK_HOME"] = str(tmp_path / "spark")
    assert PACKAGES not in SparkStart.read({}, environment).settings


@pytest.mark.parametrize("jars", ["/opt/jars/delta-storage-4.4.0.jar", "/opt/jars/spark-avro.jar"])
def test_another_jar_is_not_taken_for_deltas(environment: Environment, jars: str):
    assert len(delta_coordinates(SparkStart.read({"spark.jars": jars}, environment).settings)) == 1


# One machine, or a cluster

CLUSTERS = ["yarn", "spark://master:7077", "k8s://https://cluster:6443"]


@pytest.mark.parametrize("master", CLUSTERS)
def test_a_cluster_gets_no_settings_for_one_machine(environment: Environment, master: str):
    by_parameter = SparkStart.read({"spark.master": master}, environment).settings
    by_variable = SparkStart.read({}, {**environment, "MASTER": master}).settings
    by_argument = SparkStart.read({}, with_arguments(environment, f"--master {master}")).settings
    defaults = with_defaults(environment, f"spark.master {master}\n")
    by_defaults = SparkStart.read({}, defaults).settings
    for settings in (by_parameter, by_variable, by_argument, by_defaults):
        assert not settings.keys() & ONE_MACHINE
        assert settings["spark.sql.catalogImplementation"] == "hive"
        assert settings[EXTENSIONS] == EXTENSION
        assert settings.get("spark.master", master) == master


@pytest.mark.parametrize("master", ["local", "local[4]", "local[*]"])
def test_one_machine_gets_settings_that_suit_it(environment: Environment, master: str):
    settings = SparkStart.read({"spark.master": master}, environment).settings
    assert settings.keys() >= ONE_MACHINE
    assert settings["spark.master"] == master
    assert settings["spark.driver.host"] == "127.0.0.1"
    assert settings["spark.ui.enabled"] == "false"
    assert settings["spark.authenticate"] == "true"


def test_a_secret_is_demanded_where_spark_makes_one(environment: Environment):
    assert SparkStart.read({}, environment).settings["spark.authenticate"] == "true"
    # Spark would not start, because it makes no secret for this master.
    cluster = {"spark.master": "local-cluster[2,1,1024]"}
    assert SparkStart.read(cluster, environment).settings["spark.authenticate"] == "false"
    # The user's own choice.
    open_to_all = {"spark.authenticate": "false"}
    assert SparkStart.read(open_to_all, environment).settings["spark.authenticate"] == "false"


def test_one_machine_has_a_partition_a_core_and_memory_to_work_with(environment: Environment):
    settings = SparkStart.read({}, environment).settings
    assert settings["spark.sql.shuffle.partitions"] == str(max(cores(), 2))
    memory = settings["spark.driver.memory"]
    assert memory == "1g" or int(memory.removesuffix("m")) >= 1024


@pytest.mark.parametrize(
    ("zone", "java"),
    [("America/New_York", "America/New_York"), ("+05:30", "GMT+05:30"), ("UTC", "UTC")],
)
def test_java_has_the_time_zone_of_the_session(environment: Environment, zone: str, java: str):
    given = {"spark.sql.session.timeZone": zone, "spark.driver.extraJavaOptions": "-Da=b"}
    settings = SparkStart.read(given, environment).settings
    assert settings["spark.driver.extraJavaOptions"] == f"-Da=b -Duser.timezone={java}"
    assert settings["spark.executor.extraJavaOptions"] == f"-Duser.timezone={java}"


@pytest.mark.parametrize("zone", ["", "a b", "x;-Dy"])
def test_an_invalid_time_zone_is_left_to_spark(environment: Environment, zone: str):
    settings = SparkStart.read({"spark.sql.session.timeZone": zone}, environment).settings
    assert "spark.driver.extraJavaOptions" not in settings


def test_a_time_zone_that_the_user_sets_for_java_stays(environment: Environment):
    options = "-Duser.timezone=Asia/Tokyo"
    given = {"spark.sql.session.timeZone": "UTC", "spark.driver.extraJavaOptions": options}
    assert SparkStart.read(given, environment).settings["spark.driver.extraJavaOptions"] == options


LAKE = "spark.sql.catalog.lake"


@pytest.mark.parametrize(
    ("session", "chosen"),
    [
        ({LAKE: "org.apache.iceberg.spark.SparkCatalog"}, {f"{LAKE}.cache-enabled": "false"}),
        (
            {
                LAKE: "org.apache.iceberg.spark.SparkSessionCatalog",
                f"{LAKE}.cache-enabled": "true",
            },
            {},
        ),
        ({LAKE: "org.apache.spark.sql.delta.catalog.DeltaCatalog"}, {}),
        ({f"{LAKE}.io-impl": "org.apache.iceberg.spark.SparkCatalog"}, {}),
    ],
)
def test_catalogs_of_iceberg_cache_no_tables(session: dict[str, str], chosen: dict[str, str]):
    assert iceberg_settings(session) == chosen
