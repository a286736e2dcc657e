"""The random acts of the walk over renames, additions, widenings, backfills and restores."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from random import Random
from typing import Any

from pyspark.sql import types as spark
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from tests.walk.casts import (
    Path,
    alike,
    children,
    converted,
    fields_in,
    leaves,
    structs_in,
    type_at,
    value_with_name,
    wider,
    with_name,
    with_type,
)
from tests.walk.model import Row
from tests.walk.repairs import ID, OWN, PART, Edit, Model, Operation, Outcome, Run, Stored
from tests.walk.values import INTEGERS, random_value, values_of

COLUMNS = ("ca", "cb", "cc", "cd", "ce", "cf", "cg", "ch", "ci", "cj")
FIELDS = ("fa", "fb", "fc", "fd", "fe", "ff")
MOST_COLUMNS = 8
SMALL_DECIMALS = tuple(spark.DecimalType(*digits) for digits in ((4, 1), (8, 2), (10, 0), (12, 4)))
# Types that Delta widens are most of them.
SCALARS: tuple[DataType, ...] = (
    *(*SMALL_DECIMALS, *SMALL_DECIMALS, *INTEGERS),
    *(spark.FloatType(), spark.FloatType(), spark.DoubleType()),
    *(spark.DateType(), spark.DateType(), spark.TimestampNTZType(), spark.TimestampType()),
    *(spark.StringType(), spark.BooleanType()),
)


@dataclass(frozen=True)
class Act:
    """A step of one model.

    Attributes:
        kind: what it is, for the counts.
        model: the model in the step.
        edits: statements of plain SQL before it.
        does: the run or the operation.
        later: the model after the step.
    """

    kind: str
    model: Model
    does: Run | Operation
    later: Model
    edits: Sequence[Edit] = ()


@dataclass
class Walker:
    """A model of the walk with its table.

    Attributes:
        lines: the lines of renamed_columns that earlier runs had.
        following: what the next steps rename: each the path, and its new name.
        key: the last key that a row has had.
    """

    model: Model
    table: Stored
    lines: dict[Path, str] = field(default_factory=dict)
    following: list[tuple[Path, str]] = field(default_factory=list)
    key: int = 0

    def goes_on(self, act: Act, outcome: Outcome) -> None:
        """Take the table and the model as they are after an act."""
        self.table = outcome.table
        if outcome.refused is not None:
            # The author corrects the model. Otherwise the next run lacks the lines of the renames.
            self.following = []
            return
        self.model = act.later
        if isinstance(act.does, Run) and not act.does.is_full:
            self.lines = dict(act.does.renamed)


class Draft:
    """The next output of a model, made by changes of the one before."""

    def __init__(self, rng: Random, walker: Walker):
        self.rng, self.walker = rng, walker
        self.schema = walker.model.schema
        self.rows: dict[int, Row] = dict(walker.model.rows)

    @property
    def model(self) -> Model:
        return replace(self.walker.model, schema=self.schema, rows=dict(self.rows))

    @property
    def both(self) -> list[int]:
        """The keys that the query and the table have."""
        return sorted(self.rows.keys() & self.walker.table.rows.keys())

    def rename(self, path: Path, name: str) -> None:
        before, self.schema = self.schema, _struct(with_name(self.schema, path, name))
        self.rows = {n: value_with_name(row, before, path, name) for n, row in self.rows.items()}

    def retype(self, path: Path, new: DataType) -> None:
        before, self.schema = self.schema, _struct(with_type(self.schema, path, new))
        self.rows = {n: converted(row, before, self.schema) for n, row in self.rows.items()}

    def add(self, name: str, data_type: DataType) -> None:
        self.schema = StructType([*self.schema.fields, StructField(name, data_type)])
        for number, row in self.rows.items():
            self.rows[number] = {**row, name: random_value(self.rng, data_type)}

    def add_field(self, path: Path, name: str, data_type: DataType) -> None:
        """Add a field to a struct in a column. Each row gets another value of the column."""
        inside = type_at(self.schema, path)
        assert isinstance(inside, StructType)
        longer = StructType([*inside.fields, StructField(name, data_type)])
        self.schema = _struct(with_type(self.schema, path, longer))
        for number in self.rows:
            self.change(number, [path[0]])

    def forget(self, name: str) -> None:
        self.schema = StructType([f for f in self.schema.fields if f.name != name])
        self.rows = {
            number: {other: value for other, value in row.items() if other != name}
            for number, row in self.rows.items()
        }

    def change(self, number: int, columns: Sequence[str]) -> None:
        types = children(self.schema)
        new = {name: random_value(self.rng, types[name]) for name in columns}
        self.rows[number] = {**self.rows[number], **new}

    def new_row(self) -> int:
        self.walker.key += 1
        number = self.walker.key
        own = {ID: number, PART: number % 3 + 1}
        others = {
            f.name: random_value(self.rng, f.dataType) for f in self.schema.fields[len(OWN) :]
        }
        self.rows[number] = {**own, **others}
        return number

    def shuffle(self) -> None:
        """Give the columns and the fields of structs another order."""
        fields = self.schema.fields[len(OWN) :]
        self.rng.shuffle(fields)
        self.schema = StructType([*OWN, *fields])
        for path, inside in list(structs_in(self.schema)):
            if path:
                shuffled = self.rng.sample(inside.fields, len(inside.fields))
                self.schema = _struct(with_type(self.schema, path, StructType(shuffled)))

    def own_columns(self) -> list[str]:
        """The columns other than the key and the partition."""
        return self.schema.names[len(OWN) :]

    def stored_columns(self) -> list[str]:
        """Those of them that the table has, too."""
        return [name for name in self.own_columns() if name in self.walker.table.schema.names]

    def some(self, values: Sequence[Any], most: int, least: int = 1) -> list[Any]:
        """Draw some of the values."""
        most = min(most, len(values))
        return self.rng.sample(list(values), self.rng.randint(min(least, most), most))

    def unused(self, names: Sequence[str], *used: StructType | DataType | None) -> list[str]:
        taken = {name for data_type in used if data_type for name in children(data_type)}
        return [name for name in names if name not in taken]


def _struct(data_type: DataType) -> StructType:
    assert isinstance(data_type, StructType)
    return data_type


def random_type(rng: Random) -> DataType:
    """Draw a type: an atomic one, or one with atomic types in a struct, an array or a map."""
    scalar, other = rng.choice(SCALARS), rng.choice(SCALARS)
    pair = StructType([StructField("fa", scalar), StructField("fb", other)])
    return rng.choices(
        (scalar, pair, ArrayType(scalar), ArrayType(pair), MapType(spark.StringType(), scalar)),
        (10, 4, 2, 2, 1),
    )[0]


def first_walker(rng: Random, model: Model) -> Walker:
    """Draw the columns and rows with which a model begins."""
    walker = Walker(model, Stored(StructType([]), {}))
    draft = Draft(rng, walker)
    names = rng.sample(COLUMNS, 5)
    # At least one column of each kind that a cast changes, and a struct.
    kinds = (rng.choice(SMALL_DECIMALS), spark.FloatType(), spark.DateType(), spark.IntegerType())
    pair = StructType([StructField("fa", rng.choice(SMALL_DECIMALS)), StructField("fb", kinds[1])])
    types = [*rng.sample(kinds, 2), pair, random_type(rng), random_type(rng)]
    draft.schema = StructType(
        [*OWN, *(StructField(*each) for each in zip(names, types, strict=True))]
    )
    for _ in range(rng.randint(5, 8)):
        draft.new_row()
    walker.model = draft.model
    return walker


def draw(rng: Random, walker: Walker) -> Act:
    """Draw the next act of a model."""
    if walker.following:
        path, name = walker.following.pop(0)
        return _run(rng, walker, [(path, name)])
    (act,) = rng.choices([act for act, _ in ACTS], [weight for _, weight in ACTS])
    return act(rng, walker)


def _run(rng: Random, walker: Walker, first: Sequence[tuple[Path, str]] = ()) -> Act:
    """Draw a run, in which several things can happen at once."""
    draft = Draft(rng, walker)
    if len(draft.rows) > 4 and rng.random() < 0.15:
        del draft.rows[rng.choice(list(draft.rows))]
    if not first and len(draft.own_columns()) > 4 and rng.random() < 0.08:
        draft.forget(rng.choice(draft.own_columns()))
    renamed = _renames(draft, first)
    wide = _widenings(draft, list(renamed))
    added = _additions(draft) if rng.random() < 0.4 else []
    if rng.random() < 0.3:
        draft.shuffle()
    _drift(draft)
    written = _written_rows(draft, sorted({path[0] for path in wide}))
    backfills, defaults = rng.random() < 0.3, {}
    if added:
        backfills = rng.random() < 0.7
        if backfills and rng.random() < 0.6:
            defaults = _defaults(draft, added)
    lines = {**_kept_lines(draft, renamed), **renamed}
    return _act("run", draft, Run(written, lines, backfills, defaults))


def _act(
    kind: str,
    draft: Draft,
    does: Run | Operation,
    later: Model | None = None,
    edits: Sequence[Edit] = (),
    repeated: int | None = None,
) -> Act:
    model = draft.model
    return Act(kind, replace(model, repeated=repeated), does, later or model, edits)


def _renames(draft: Draft, first: Sequence[tuple[Path, str]]) -> dict[Path, str]:
    """Rename columns and fields of the model. Return the lines of renamed_columns."""
    rng, table = draft.rng, draft.walker.table.schema
    likely = 0.45 if draft.walker.model.has_mapping else 0.05
    wanted = list(first)
    if not first and rng.random() < likely:
        # Inner fields first: their paths then still have the outer names.
        paths = draft.some([p for p, _ in fields_in(draft.schema) if _can_be_renamed(p, table)], 3)
        for path in sorted(paths, key=len, reverse=True):
            siblings = type_at(draft.schema, path[:-1]), type_at(table, path[:-1])
            names = COLUMNS if len(path) == 1 else FIELDS
            taken = {name for p, name in wanted if p[:-1] == path[:-1]}
            free = [n for n in draft.unused(names, *siblings) if n not in taken]
            if free:
                wanted.append((path, rng.choice(free)))
    lines: dict[Path, str] = {}
    for path, name in wanted:
        if type_at(draft.schema, path) is None:
            continue
        draft.rename(path, name)
        lines = {_under(line, path, name): old for line, old in lines.items()}
        lines[(*path[:-1], name)] = path[-1]
    return lines


def _can_be_renamed(path: Path, table: StructType) -> bool:
    return path[0] not in (ID, PART) and type_at(table, path) is not None


def _under(line: Path, path: Path, name: str) -> Path:
    """Return the path of a line after an outer field was renamed."""
    return (*path[:-1], name, *line[len(path) :]) if line[: len(path)] == path else line


def _widenings(draft: Draft, renamed: Sequence[Path]) -> list[Path]:
    """Give leaves of the model wider types; often those that are renamed."""
    rng = draft.rng
    own = [(path, kind) for path, kind in leaves(draft.schema) if path[0] not in (ID, PART)]
    possible = {path: new for path, kind in own if (new := wider(rng, kind)) is not None}
    chosen = [p for p in possible if p in renamed and rng.random() < 0.6]
    if rng.random() < 0.4:
        chosen += draft.some([p for p in possible if p not in chosen], 2)
    for path in chosen:
        draft.retype(path, possible[path])
    return chosen


def _additions(draft: Draft) -> list[str]:
    """Add columns, or a field of a struct. Return the new columns."""
    rng, table = draft.rng, draft.walker.table.schema
    structs = [path for path, _ in structs_in(draft.schema) if path]
    if structs and rng.random() < 0.25:
        path = rng.choice(structs)
        free = draft.unused(FIELDS, type_at(draft.schema, path), type_at(table, path))
        if free and type_at(table, path) is not None:
            draft.add_field(path, rng.choice(free), rng.choice(SCALARS))
            return []
    forgotten = [f for f in table.fields if f.name not in draft.walker.model.schema.names]
    if forgotten and draft.walker.model.mode != "sync_all_columns" and rng.random() < 0.4:
        draft.add(forgotten[0].name, forgotten[0].dataType)
        return []
    names = draft.unused(COLUMNS, draft.schema, table)
    names = names[: max(0, MOST_COLUMNS - len(draft.schema.names))]
    added = draft.some(names, 2) if names else []
    for name in added:
        draft.add(name, random_type(rng))
    return added


def _defaults(draft: Draft, added: Sequence[str]) -> dict[str, Any]:
    types = children(draft.schema)
    kinds = (*map(type, INTEGERS), spark.DecimalType, spark.DateType, spark.DoubleType)
    simple = [name for name in added if isinstance(types[name], kinds)]
    # dbt wants append_new_columns or fail for an enforced contract.
    if not simple or draft.walker.model.mode == "sync_all_columns":
        return {}
    return {simple[0]: draft.rng.choice(values_of(types[simple[0]]))}


def _drift(draft: Draft) -> None:
    """Change rows of the source that no run has written since."""
    rng = draft.rng
    if rng.random() < 0.35:
        for number in draft.some(list(draft.rows), 3):
            draft.change(number, draft.some(draft.own_columns(), 2))
    if rng.random() < 0.15:
        draft.new_row()


def _written_rows(draft: Draft, wide: Sequence[str]) -> list[int]:
    """Choose the rows of the incremental query: new ones, and ones that have changed."""
    rng, table = draft.rng, draft.walker.table
    strategy = draft.walker.model.strategy
    if strategy == "append":
        return [draft.new_row() for _ in range(rng.randint(1, 3))]
    new = [draft.new_row() for _ in range(rng.randint(0, 2))]
    old = draft.some(draft.both, 3, least=0 if new else 1)
    for number in old:
        draft.change(number, sorted({*wide, *draft.some(draft.own_columns(), 3)}))
    if strategy == "insert_overwrite":
        parts = {draft.rows[number][PART] for number in (*new, *old)}
        return sorted(n for n, row in draft.rows.items() if row[PART] in parts)
    late = [n for n in draft.rows if n not in table.rows and n not in new]
    return sorted({*new, *old, *draft.some(late, 2, least=0)}) or [draft.new_row()]


def _kept_lines(draft: Draft, renamed: Mapping[Path, str]) -> dict[Path, str]:
    """Return the lines of earlier runs that change nothing now."""
    now = {(*path[:-1], old) for path, old in renamed.items()}

    def is_done(path: Path, old: str) -> bool:
        before = (*path[:-1], old)
        model, table = draft.schema, draft.walker.table.schema
        gone = type_at(table, before) is None or type_at(model, before) is not None
        has = type_at(table, path) is not None and type_at(model, path) is not None
        return gone and has and path not in now and before not in now and before not in renamed

    if draft.rng.random() < 0.3:
        return {}
    kept = {path: old for path, old in draft.walker.lines.items() if is_done(path, old)}
    olds = [(*path[:-1], old) for path, old in kept.items()]
    return {
        path: old
        for path, old in kept.items()
        if path not in olds and olds.count((*path[:-1], old)) == 1
    }


def _exchange(rng: Random, walker: Walker) -> Act:
    """Exchange the names of two columns in three runs, by a third name."""
    draft = Draft(rng, walker)
    free = draft.unused(COLUMNS, draft.schema, walker.table.schema)
    columns = draft.stored_columns()
    if not walker.model.has_mapping or len(columns) < 2 or not free:
        return _run(rng, walker)
    one, other = rng.sample(columns, 2)
    walker.following = [((other,), one), ((free[0],), other)]
    act = _run(rng, walker, [((one,), free[0])])
    return replace(act, kind="exchange")


def _refused(rng: Random, walker: Walker) -> Act:
    """Draw a run that has to be refused."""
    draft = Draft(rng, walker)
    before, table = draft.model, walker.table.schema
    columns = draft.stored_columns()
    free = draft.unused(COLUMNS, draft.schema, table)
    numbers = {p: kind for p, kind in leaves(draft.schema) if isinstance(kind, tuple(TOO_WIDE))}
    numbers = {path: kind for path, kind in numbers.items() if path[0] in columns}
    choice = rng.choice(
        ("swap", "chain", "not in model", "neither", "old in model", "type", "keys")
    )
    lines: dict[Path, str] = {}
    repeated, backfills = None, False
    if columns and (forgotten := draft.unused(table.names, draft.schema)):
        lines = {(columns[0],): forgotten[0]}
    elif choice == "swap" and len(columns) > 1:
        one, other = rng.sample(columns, 2)
        lines = {(one,): other, (other,): one}
    elif choice == "chain" and len(columns) > 1 and free:
        one, other = rng.sample(columns, 2)
        draft.rename((one,), free[0])
        draft.rename((other,), one)
        lines = {(free[0],): one, (one,): other}
    elif choice == "not in model" and free and columns:
        lines = {(free[0],): rng.choice(columns)}
    elif choice == "neither" and len(free) > 1:
        draft.add(free[0], rng.choice(SCALARS))
        lines = {(free[0],): free[1]}
    elif choice == "old in model" and free and columns:
        draft.add(free[0], rng.choice(SCALARS))
        lines = {(free[0],): rng.choice(columns)}
    elif choice == "type" and numbers:
        path = rng.choice(list(numbers))
        draft.retype(path, TOO_WIDE[type(numbers[path])])
    elif free and draft.both:
        draft.add(free[0], rng.choice(SCALARS))
        repeated, backfills = rng.choice(draft.both), True
    _drift(draft)
    written = _written_rows(draft, [])
    return _act("refused run", draft, Run(written, lines, backfills), before, repeated=repeated)


# Only a person may make a decimal of an integer. A decimal would need more than 38 digits.
TOO_WIDE: dict[type[DataType], DataType] = {
    **dict.fromkeys(map(type, INTEGERS), spark.DecimalType(30, 2)),
    spark.DecimalType: spark.DecimalType(38, 37),
}


def _backfill(rng: Random, walker: Walker) -> Act:
    draft = Draft(rng, walker)
    table = walker.table
    columns = draft.stored_columns()
    if not columns or not draft.both:
        return _run(rng, walker)
    chosen = draft.some(columns, 2)
    if rng.random() < 0.75:
        for number in draft.some(draft.both, 4):
            draft.change(number, draft.some(chosen, 2))
    _drift(draft)
    edits = []
    if rng.random() < 0.25:
        numbers = draft.some(draft.both, 3)
        data_type = children(table.schema)[chosen[0]]
        edits = [Edit(chosen[0], data_type, dict.fromkeys(numbers))]
    above = rng.choice(list(table.rows)) if rng.random() < 0.3 else None
    return _act("backfill", draft, Operation("backfill_columns", chosen, above), edits=edits)


def _refused_backfill(rng: Random, walker: Walker) -> Act:
    draft = Draft(rng, walker)
    before = draft.model
    columns, both = draft.stored_columns(), draft.both
    if not columns or not both:
        return _run(rng, walker)
    name, repeated = rng.choice(columns), None
    operation = rng.choice(("backfill_columns", "restore_values"))
    choice = rng.choice(("key", "no column", "inside", "keys", "value", "value"))
    wide = {p: new for p, kind in leaves(draft.schema) if (new := wider(rng, kind)) is not None}
    paths = [path for path in wide if path[0] in columns]
    if choice == "value" and paths:
        path = rng.choice(paths)
        name, operation = path[0], "backfill_columns"
        draft.retype(path, wide[path])
        for number in draft.some(both, 2):
            draft.change(number, [name])
    elif choice in ("key", "no column", "inside"):
        name = {"key": ID, "no column": "cz", "inside": f"{name}.fa"}[choice]
    else:
        repeated = rng.choice(both)
    does = Operation(operation, [name])
    return _act("refused operation", draft, does, before, repeated=repeated)


def _restore(rng: Random, walker: Walker) -> Act:
    """Cut values by a cast, as dbt-spark would have, and then put them right."""
    draft = Draft(rng, walker)
    table, both = walker.table, draft.both
    edits: list[Edit] = []
    used: set[str] = set()
    cut = list(_cuts(draft)) if both and rng.random() < 0.9 else []
    for path, new in cut[: rng.choice((1, 2, 2, 3))]:
        if path[0] in used:
            continue
        used.add(path[0])
        draft.retype(path, new)
        numbers = draft.some(both, 4)
        _change_by_cast(draft, path[0], numbers)
        edits.append(_edit(draft, path[0], numbers))
    # In some rows another column has changed too: what a cast has changed in them is not known.
    if both and rng.random() < 0.5:
        others = [name for name in draft.own_columns() if name not in used] or draft.own_columns()
        for number in draft.some(both, 2):
            draft.change(number, draft.some(others, 1))
    later = draft.model
    by_hand = [
        field.name
        for field in table.schema.fields
        if field.name != PART
        if field.dataType == children(draft.schema).get(field.name) == spark.IntegerType()
    ]
    if by_hand and both and rng.random() < 0.35:
        edits.append(_cut_integer(draft, by_hand[0], draft.some(both, 3)))
    columns = draft.some(sorted(used), 2) if used and rng.random() < 0.25 else []
    above = rng.choice(list(table.rows)) if table.rows and rng.random() < 0.2 else None
    return _act("restore", draft, Operation("restore_values", columns, above), later, edits)


def _cuts(draft: Draft) -> Iterator[tuple[Path, DataType]]:
    """Yield leaves that can be wider in the model than in the table, in random order."""
    table = draft.walker.table.schema
    found = [(p, kind) for p, kind in leaves(draft.schema) if p[0] not in (ID, PART)]
    kinds = (spark.DecimalType, spark.FloatType, spark.DateType)
    for path, kind in draft.rng.sample(found, len(found)):
        new = wider(draft.rng, kind) if isinstance(kind, kinds) else None
        if new is not None and type_at(table, path) == kind:
            yield path, new


def _change_by_cast(draft: Draft, column: str, numbers: Sequence[int]) -> None:
    """Give rows of the model values that a cast to the table's column changes."""
    new = children(draft.schema)[column]
    kept = children(draft.walker.table.schema)[column]
    for number in numbers:
        for _ in range(10):
            draft.change(number, [column])
            value = draft.rows[number][column]
            if not alike(value, new, converted(value, new, kept), kept):
                break


def _edit(draft: Draft, column: str, numbers: Sequence[int]) -> Edit:
    """Write the model's values of a column to the table, in the types that the model has."""
    # A struct is cast by position, so its fields have the table's order.
    model, table = children(draft.schema)[column], children(draft.walker.table.schema)[column]
    ordered = in_order_of(model, table)
    values = {n: converted(draft.rows[n][column], model, ordered) for n in numbers}
    return Edit(column, ordered, values)


def in_order_of(model: DataType, table: DataType) -> DataType:
    """Return a type with the fields of structs in the order of another type."""
    gives, has = children(model), children(table)
    if not gives:
        return model
    inside = {name: in_order_of(gives[name], has[name]) for name in has}
    if isinstance(model, StructType):
        return StructType([StructField(*each) for each in inside.items()])
    if isinstance(model, ArrayType):
        return ArrayType(inside["element"])
    return MapType(inside["key"], inside["value"])


def _cut_integer(draft: Draft, column: str, numbers: Sequence[int]) -> Edit:
    """Let the model have fractions in a column that only a person may widen."""
    draft.retype((column,), spark.DecimalType(14, 2))
    for number in numbers:
        value = Decimal(draft.rng.randint(-1000, 1000)) + Decimal("0.25")
        draft.rows[number] = {**draft.rows[number], column: value}
    return _edit(draft, column, numbers)


def _maintain(rng: Random, walker: Walker) -> Act:
    name = rng.choice(("optimize", "rewrite_widened_files", "rewrite_widened_files"))
    return _act(name, Draft(rng, walker), Operation(name))


def _full_refresh(rng: Random, walker: Walker) -> Act:
    draft = Draft(rng, walker)
    _drift(draft)
    if rng.random() < 0.3:
        _widenings(draft, [])
    if rng.random() < 0.3:
        draft.shuffle()
    # A full refresh ignores these lines.
    lines: dict[Path, str] = {(draft.own_columns()[0],): "cz"} if rng.random() < 0.5 else {}
    return _act("full refresh", draft, Run((), lines, is_full=True))


ACTS: tuple[tuple[Callable[[Random, Walker], Act], int], ...] = (
    (_run, 40),
    (_exchange, 4),
    (_refused, 8),
    (_backfill, 14),
    (_refused_backfill, 5),
    (_restore, 18),
    (_maintain, 8),
    (_full_refresh, 3),
)
