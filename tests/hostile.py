"""Names that break out of a statement which does not quote them well, or quotes them twice."""

NAMES = {
    "backtick": "a`b",
    "backticks": "``",
    "closed": "a`; drop table victim; --",
    "all_of_it": "a` bigint) using delta as select 1 as `b",
    "apostrophe": "a'b",
    "literal": "a' location '/nowhere",
    "two_apostrophes": "''",
    "quotation_mark": 'a"b',
    "bracket": "a) as select 1 --",
    "comment": "a--b",
    "opened": "a/*b",
    "semicolon": "a; drop table victim",
    "space": "a b",
    "comma": "a, b",
    "dot": "a.b",
    "path": "victim.id",
    "equals": "a=b",
    "backslash": "a\\b",
    "last_backslash": "a\\",
    "escaped": "a\\'b",
    "python": "%s %(a)d {0}",
    "reserved": "select",
    "number": "1e5",
    "hash": "# col_name",
    "other_letters": "straße",
    "no_letter": "🙂",
    "question": "a?:b",
}
"""The names by their hostile part."""

TEXTS = {
    **NAMES,
    # Spark substitutes the value of a setting even between backticks.
    "setting": "${spark.app.name}",
    "no_setting": "${no.such.setting}",
    "lines": "a\nb\tc",
}
"""The names as values, and texts that only a value can have."""

FEW = {key: NAMES[key] for key in ("backtick", "closed", "literal", "opened", "semicolon", "dot")}
"""Some of the names, for tests that run a dbt command for each name."""
