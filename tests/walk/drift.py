"""The random changes of a model's output from one step to the next."""

from random import Random

from pyspark.sql import types as spark
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from tests.walk.values import BITS, INTEGERS, LIMITED, SCALARS, TEXTS, random_scalar, random_type

COLUMNS = ("ca", "cb", "cc", "cd", "ce", "cf", "cg")
OWN = (
    StructField("id", spark.LongType()),
    StructField("part", spark.IntegerType()),
    StructField("at", spark.TimestampType()),
)
"""The columns that no step changes: key, partition, and time of the event."""


WIDER: dict[type[DataType], tuple[DataType, ...]] = {
    spark.ByteType: INTEGERS[1:],
    spark.ShortType: INTEGERS[2:],
    spark.IntegerType: INTEGERS[3:],
    spark.FloatType: (spark.DoubleType(),),
    spark.DecimalType: tuple(spark.DecimalType(*digits) for digits in ((12, 4), (22, 6), (38, 18))),
    spark.DateType: (spark.TimestampNTZType(),),
}
"""Types with the types that Delta widens them to, so that steps use them often."""


def first_schema(rng: Random, limited: bool) -> StructType:
    """Draw the columns that a table begins with.

    Args:
        limited: whether some are char or varchar.
    """
    names = rng.sample(COLUMNS, rng.choice((2, 3, 4)))
    fields = [StructField(name, random_type(rng)) for name in names]
    if limited:
        fields[0] = StructField(names[0], rng.choice(LIMITED))
    return StructType([*OWN, *fields])


def drifted(rng: Random, table: StructType, changes_columns: bool) -> StructType:
    """Draw the model's next output from the columns of the table.

    Args:
        changes_columns: whether a column may come or go, or a nested field.
    """
    fields = [StructField(f.name, as_selected(f.dataType)) for f in table.fields[len(OWN) :]]
    for index in rng.sample(range(len(fields)), min(len(fields), rng.choice((0, 1, 1, 1, 2)))):
        changed = drifted_type(rng, fields[index].dataType, changes_columns)
        fields[index] = StructField(fields[index].name, changed)
    # A column that a mode does not add is left out, or the run is refused.
    if rng.random() < (0.2 if changes_columns else 0.08):
        unused = [name for name in COLUMNS if name not in table.names]
        fields += [StructField(name, random_type(rng, 1)) for name in unused[:1]]
    if changes_columns and len(fields) > 1 and rng.random() < 0.12:
        del fields[rng.randrange(len(fields))]
    if rng.random() < 0.3:
        rng.shuffle(fields)
    return StructType([*OWN, *fields])


def as_selected(data_type: DataType) -> DataType:
    """Return the type in a query's output, where a char or varchar is a string."""
    return spark.StringType() if type(data_type) in TEXTS else data_type


def drifted_type(rng: Random, data_type: DataType, changes_fields: bool) -> DataType:
    if rng.random() < 0.06:
        return random_type(rng, 1)
    if isinstance(data_type, StructType):
        return _drifted_struct(rng, data_type, changes_fields)
    if isinstance(data_type, ArrayType):
        return ArrayType(drifted_type(rng, data_type.elementType, changes_fields))
    if isinstance(data_type, MapType):
        key, value = data_type.keyType, data_type.valueType
        if rng.random() < 0.5:
            return MapType(_drifted_scalar(rng, key, void=False), value)
        return MapType(key, drifted_type(rng, value, changes_fields))
    return _drifted_scalar(rng, data_type, void=True)


def _drifted_struct(rng: Random, data_type: StructType, changes_fields: bool) -> StructType:
    fields = list(data_type.fields)
    index = rng.randrange(len(fields))
    if rng.random() < 0.7:
        changed = drifted_type(rng, fields[index].dataType, changes_fields)
        fields[index] = StructField(fields[index].name, changed)
    if rng.random() < 0.6:
        rng.shuffle(fields)
    if changes_fields and rng.random() < 0.15:
        fields.insert(index, StructField("fz", random_scalar(rng)))
    elif changes_fields and len(fields) > 1 and rng.random() < 0.15:
        del fields[index]
    # A struct can't have two fields with one name.
    return StructType(list({field.name: field for field in fields}.values()))


def _drifted_scalar(rng: Random, data_type: DataType, void: bool) -> DataType:
    turn = rng.random()
    if void and turn < 0.05:
        return spark.NullType()
    if turn < 0.35 and type(data_type) in WIDER:
        return rng.choice(WIDER[type(data_type)])
    near = _near(rng, data_type) if turn < 0.8 else []
    return rng.choice(near or SCALARS)


def _near(rng: Random, data_type: DataType) -> list[DataType]:
    """List types of the same kind, and the types that Delta can widen the type to."""
    if type(data_type) in BITS:
        return [*INTEGERS, *INTEGERS, spark.DecimalType(10, 0), spark.DoubleType()]
    if isinstance(data_type, spark.DecimalType):
        scale = rng.randint(0, min(data_type.scale + 2, 38))
        digits = data_type.precision - data_type.scale + rng.choice((-1, 0, 2))
        return [
            spark.DecimalType(max(1, min(38, digits + scale)), min(scale, 38)),
            spark.DecimalType(max(1, min(38, digits + scale)), min(scale, 38)),
            spark.DoubleType(),
            spark.IntegerType(),
        ]
    if isinstance(data_type, spark.FloatType | spark.DoubleType):
        return [spark.FloatType(), spark.DoubleType(), spark.ShortType(), spark.DecimalType(10, 2)]
    if isinstance(data_type, spark.DateType | spark.TimestampType | spark.TimestampNTZType):
        return [spark.DateType(), spark.TimestampType(), spark.TimestampNTZType()]
    return []
