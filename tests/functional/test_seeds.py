"""Seeds are written with literals, so they too must be stored exactly."""

from datetime import datetime

import pytest

from tests.functional.support import dbt

CSV = r"""id,big,name,at,empty
1,9007199254740993,O'Brien,2024-01-01 10:11:12.123456,
2,-9223372036854775808,back\slash,2024-01-02 00:00:00,
3,0,${env:HOME} %s 100%,2024-01-03 00:00:00.000001,x
"""


class TestSeeds:
    @pytest.fixture(scope="class")
    def seeds(self):
        return {"values.csv": CSV}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        types = {"at": "timestamp_ntz", "big": "bigint", "empty": "string"}
        return {"seeds": {"test": {"values": {"+column_types": types}}}}

    def test_every_value_is_stored_exactly(self, project, table):
        run = dbt("seed")
        assert run.status("values") == "success", run.message("values")
        assert table("values").rows("big", "name", "at", "empty") == sorted(
            [
                (9007199254740993, "O'Brien", datetime(2024, 1, 1, 10, 11, 12, 123456), None),
                (-9223372036854775808, "back\\slash", datetime(2024, 1, 2), None),
                (0, "${env:HOME} %s 100%", datetime(2024, 1, 3, 0, 0, 0, 1), "x"),
            ],
            key=repr,
        )
