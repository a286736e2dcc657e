"""The values of a seed's file are read and checked once, whether its table exists or not."""

import pytest

from dbt.adapters.deltawiden.writes import seeds
from tests.functional.support import dbt


class TestSeed:
    @pytest.fixture(scope="class")
    def seeds(self):
        return {"codes.csv": "id,code\n1,a\n"}

    def test_is_checked_once(self, project, table, monkeypatch):
        checked, check = [], seeds.check_seed

        def counted(seed, *others):
            checked.append(seed["name"])
            return check(seed, *others)

        monkeypatch.setattr(seeds, "check_seed", counted)
        for number, arguments in enumerate([(), (), ("--full-refresh",)], start=1):
            run = dbt("seed", *arguments)
            assert run.status("codes") == "success", run.message("codes")
            assert checked == ["codes"] * number
        assert table("codes").rows() == [(1, "a")]
