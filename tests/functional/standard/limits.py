"""The reasons why some of dbt's tests can't run here, in one line for each reason."""

ONE_STATEMENT = "Spark runs one statement a call: no header statement before another"
NO_GRANTS = "open-source Spark has no GRANT outside of a Hive metastore with SQL authorization"
NO_MATERIALIZED_VIEWS = "open-source Spark has no materialized views"
NO_SEED_EMPTY = "dbt-core's: `dbt seed --empty` is new in dbt-core 1.12"
NO_SQL_FUNCTIONS = "Spark's: CREATE FUNCTION takes SQL from Spark 4.0 on"
OLD_PANDAS = "PySpark's: this pyspark.pandas can't be imported with this pandas"

_MATERIALIZED_VIEW = NO_MATERIALIZED_VIEWS
_JAVASCRIPT = "open-source Spark has no functions in JavaScript"
_PYTHON = "open-source Spark's CREATE FUNCTION takes no Python"
_AGGREGATE = "open-source Spark's CREATE FUNCTION takes no aggregate in SQL"
_BASE = "the suite's: what others of its classes are made of, without models of its own"

NOT_APPLICABLE = {
    "BaseArrayUtils": _BASE,
    "BaseCachingTest": _BASE,
    "BaseConstraintsColumnsEqual": _BASE,
    "BaseContractSqlHeader": _BASE,
    "BaseCurrentTimestamp": _BASE,
    "BaseDataTypeMacro": _BASE,
    "BaseUtils": _BASE,
    "UDAFBase": _BASE,
    "BaseCurrentTimestampAware": "Spark's current_timestamp() has no zone: see the Naive one",
    "CanFindScalarFunctionRelation": "Spark's: a function may have a table's name, and dbt's cache "
    "of relations has one entry for a name",
    "MaterializedViewBasic": _MATERIALIZED_VIEW,
    "MaterializedViewChanges": _MATERIALIZED_VIEW,
    "MaterializedViewChangesApplyMixin": _MATERIALIZED_VIEW,
    "MaterializedViewChangesContinueMixin": _MATERIALIZED_VIEW,
    "MaterializedViewChangesFailMixin": _MATERIALIZED_VIEW,
    "BasicJSUDF": _JAVASCRIPT,
    "JSUDFMultiLineBody": _JAVASCRIPT,
    "JSUDFDeterministicVolatility": _JAVASCRIPT,
    "JSUDFNonDeterministicVolatility": _JAVASCRIPT,
    "JSUDFStableVolatilityWarns": _JAVASCRIPT,
    "JSUDFDefaultArgSupport": _JAVASCRIPT,
    "BasicJSAggregateUDF": _JAVASCRIPT,
    "JSAggregateUDFVolatilityIgnored": _JAVASCRIPT,
    "PythonUDFSupported": _PYTHON,
    "PythonUDFVolatilitySupport": _PYTHON,
    "PythonUDFWithPackagesSupported": _PYTHON,
    "PythonUDFDefaultArgSupport": _PYTHON,
    "PythonUDFRuntimeVersionRequired": _PYTHON,
    "PythonUDFEntryPointRequired": _PYTHON,
    "BasicPythonUDAF": _PYTHON,
    "PythonUDAFDefaultArgSupport": _PYTHON,
    "BasicSQLUDAF": _AGGREGATE,
}
"""The names of the suite's classes that have no test here."""
