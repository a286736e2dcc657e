"""Type changes, generated, identity and default columns in the metadata of a schema."""

import itertools
import json
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError
from hypothesis import given

from dbt.adapters.deltawiden.delta.column_metadata import (
    ColumnMetadata,
    TypeChange,
    earlier_changes,
    read_metadata,
)
from dbt.adapters.deltawiden.sql.identifiers import Path
from tests.unit.schemas import data_type
from tests.unit.strategies import names

Json = dict[str, Any]


def field(name: str, data_type: str | Json, **metadata: Any) -> Json:
    return {"name": name, "type": data_type, "nullable": True, "metadata": metadata}


def struct(*fields: Json) -> Json:
    return {"type": "struct", "fields": list(fields)}


def array(element: str | Json) -> Json:
    return {"type": "array", "elementType": element, "containsNull": True}


def mapping(key: str | Json, value: str | Json) -> Json:
    return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}


def changed(*types: str, inside: str = "") -> Json:
    """The metadata of a field whose type changed several times."""
    entries = [
        {"fromType": one, "toType": then, **({"fieldPath": inside} if inside else {})}
        for one, then in itertools.pairwise(types)
    ]
    return {"delta.typeChanges": entries}


def read(*columns: Json) -> ColumnMetadata:
    return read_metadata(json.dumps(struct(*columns)))


def recorded(path: Path, *types: str) -> tuple[TypeChange, ...]:
    pairs = itertools.pairwise(data_type(name) for name in types)
    return tuple(TypeChange(path, *pair) for pair in pairs)


# Delta's protocol, "Type Change Metadata"
OF_A_COLUMN = """
{
  "name" : "e",
  "type" : "long",
  "nullable" : true,
  "metadata" : {
    "delta.typeChanges": [
      {
        "fromType": "short",
        "toType": "integer"
      },
      {
        "fromType": "integer",
        "toType": "long"
      }
    ]
  }
}"""
OF_A_MAP_KEY = """
{
  "name" : "e",
  "type" : {
    "type": "map",
    "keyType": "double",
    "valueType": "integer",
    "valueContainsNull": true
  },
  "nullable" : true,
  "metadata" : {
    "delta.typeChanges": [
      {
        "fromType": "float",
        "toType": "double",
        "fieldPath": "key"
      }
    ]
  }
}"""
OF_A_MAP_VALUE_IN_AN_ARRAY = """
{
  "name" : "e",
  "type" : {
    "type": "array",
    "elementType": {
      "type": "map",
      "keyType": "string",
      "valueType": "decimal(10, 4)",
      "valueContainsNull": true
    },
    "containsNull": true
  },
  "nullable" : true,
  "metadata" : {
    "delta.typeChanges": [
      {
        "fromType": "decimal(6, 2)",
        "toType": "decimal(10, 4)",
        "fieldPath": "element.value"
      }
    ]
  }
}"""


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (OF_A_COLUMN, recorded(("e",), "smallint", "int", "bigint")),
        (OF_A_MAP_KEY, recorded(("e", "key"), "float", "double")),
        (
            OF_A_MAP_VALUE_IN_AN_ARRAY,
            recorded(("e", "element", "value"), "decimal(6,2)", "decimal(10,4)"),
        ),
    ],
    ids=["column", "map key", "map value in an array"],
)
def test_the_examples_of_the_protocol_are_read(column: str, expected: tuple[TypeChange, ...]):
    assert read(json.loads(column)) == ColumnMetadata(changes=expected)


X = struct(field("x", "long", **changed("integer", "long")))
IN_VALUE = changed("integer", "long", inside="value.element")


@pytest.mark.parametrize(
    ("column", "path"),
    [
        (field("s", X), ("s", "x")),
        (field("arr", array(X)), ("arr", "element", "x")),
        (field("m", mapping("string", X)), ("m", "value", "x")),
        (field("m", mapping(X, "string")), ("m", "key", "x")),
        (field("a.b", struct(field("c`d", X))), ("a.b", "c`d", "x")),
        (
            field("arr", array(struct(field("m", mapping("date", array("long")), **IN_VALUE)))),
            ("arr", "element", "m", "value", "element"),
        ),
    ],
)
def test_a_change_is_found_at_any_depth(column: Json, path: Path):
    assert read(column).changes == recorded(path, "int", "bigint")


def test_changes_are_ordered_by_column_and_the_changes_of_a_leaf_by_time():
    both = {
        "delta.typeChanges": [
            {"fromType": "byte", "toType": "short", "fieldPath": "value"},
            {"fromType": "float", "toType": "double", "fieldPath": "key"},
            {"fromType": "short", "toType": "integer", "fieldPath": "value"},
        ]
    }
    found = read(
        field("m", mapping("double", "integer"), **both),
        field("same", "string"),
        field("d", "timestamp_ntz", **changed("date", "timestamp_ntz")),
    )
    assert found.changes == (
        *recorded(("m", "value"), "tinyint", "smallint"),
        *recorded(("m", "key"), "float", "double"),
        *recorded(("m", "value"), "smallint", "int"),
        *recorded(("d",), "date", "timestamp_ntz"),
    )


def test_a_generated_column_is_read_with_its_expression():
    found = read(
        field("amount", "integer"),
        field("Tenfold", "integer", **{"delta.generationExpression": "amount * 10"}),
    )
    assert found == ColumnMetadata(generated=(("Tenfold", "amount * 10"),))


@pytest.mark.parametrize("inserts", [True, False])
def test_an_identity_column_is_read_with_and_without_explicit_inserts(inserts: bool):
    found = read(
        field(
            "Number",
            "long",
            **{
                "delta.identity.start": 1,
                "delta.identity.step": 1,
                "delta.identity.highWaterMark": 12,
                "delta.identity.allowExplicitInsert": inserts,
            },
        ),
        field("id", "long"),
    )
    assert found == ColumnMetadata(identity=("Number",))


def test_a_column_with_a_default_is_read():
    found = read(field("Size", "integer", CURRENT_DEFAULT="7", EXISTS_DEFAULT="7"))
    assert found == ColumnMetadata(defaults=("Size",))


def test_a_column_with_a_varchar_is_read():
    found = read(field("Name", "string", **{"__CHAR_VARCHAR_TYPE_STRING": "varchar(5)"}))
    assert found == ColumnMetadata(texts=(("Name", "varchar(5)"),))


def test_other_metadata_of_a_column_is_ignored():
    found = read(
        field("b", "integer", **{"delta.columnMapping.id": 2, "comment": "identity"}),
        field("c", "integer", **{"delta.invariants": '{"expression": {"expression": "c > 3"}}'}),
        field("v", "variant"),
        field("n", struct()),
    )
    assert found == ColumnMetadata()


def test_a_table_without_columns_has_no_metadata():
    assert read() == ColumnMetadata()


@pytest.mark.parametrize("text", ["", "delta", "{"])
def test_a_text_that_is_not_json_is_an_error(text: str):
    with pytest.raises(DbtRuntimeError, match="The schema in the table's log is not JSON"):
        read_metadata(text)


def test_a_recorded_type_that_is_unknown_is_an_error_of_its_table_alone():
    """dbt's own error: an operation on a schema goes on with the next table."""
    with pytest.raises(DbtRuntimeError, match="e was widened from integer to wide_integer"):
        read(field("e", "long", **changed("integer", "wide_integer")))


@given(names, names)
def test_a_change_is_found_for_any_names(column: str, inner: str):
    inside = field(inner, array("double"), **changed("float", "double", inside="element"))
    found = read(field(column, struct(inside)))
    assert found.changes == recorded((column, inner, "element"), "float", "double")


def test_earlier_changes_have_the_names_of_today():
    def mapped(name: str, physical: str, kind: str | Json, **metadata: Any) -> Json:
        return field(name, kind, **{"delta.columnMapping.physicalName": physical}, **metadata)

    earlier = struct(
        mapped("a", "col-1", "long", **changed("short", "integer", "long")),
        mapped("s", "col-2", struct(mapped("x", "col-3", "double", **changed("float", "double")))),
        mapped("l", "col-4", array("double"), **changed("float", "double", inside="element")),
        mapped("gone", "col-5", "long", **changed("integer", "long")),
        field("z", "long", **changed("integer", "long")),
    )
    now = struct(
        mapped("gone", "col-1", "long"),
        mapped("T", "col-2", struct(mapped("y", "col-3", "double"))),
        mapped("m", "col-4", array("double")),
        mapped("z", "z", "long"),
    )
    # The column that is gone had the name that another one has now.
    expected = (
        *recorded(("gone",), "smallint", "int", "bigint"),
        *recorded(("T", "y"), "float", "double"),
        *recorded(("m", "element"), "float", "double"),
        *recorded(("z",), "int", "bigint"),
    )
    assert earlier_changes(json.dumps(now), [json.dumps(earlier)] * 2) == expected
