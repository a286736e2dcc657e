"""An enforced contract holds on every run of an incremental model, and lets it widen."""

import pytest

from tests.functional.support import dbt, needs_delta_4

MODEL = """
{{{{ config(materialized='incremental', on_schema_change='{mode}', type_widening=true) }}}}
select 1 as id, cast(1 as {{{{ var('output', 'int') }}}}) as n
"""
SCHEMA = """
models:
  - name: {name}
    config: {{contract: {{enforced: true}}}}
    columns:
      - {{name: id, data_type: int}}
      - {{name: n, data_type: "{{{{ var('contract', 'int') }}}}"}}
"""
MODES = ("append_new_columns", "fail")


class TestContracts:
    @pytest.fixture(scope="class")
    def models(self):
        models = {f"{mode}.sql": MODEL.format(mode=mode) for mode in MODES}
        return {**models, **{f"{mode}.yml": SCHEMA.format(name=mode) for mode in MODES}}

    @needs_delta_4
    def test_it_is_checked_before_anything_is_changed(self, project, table):
        assert dbt("run").status("fail") == "success"
        versions = {mode: table(mode).version for mode in MODES}
        broken = dbt("run", output="bigint")
        for mode in MODES:
            assert broken.status(mode) == "error"
            assert "This model has an enforced contract that failed" in broken.message(mode)
            assert table(mode).version == versions[mode]

        kept = dbt("run", output="bigint", contract="bigint")
        assert kept.status("append_new_columns") == "success"
        assert table("append_new_columns").types["n"] == "bigint"
        # The contract agrees; the mode says that the schema stays.
        assert kept.status("fail") == "error"
        assert "bigint" in kept.message("fail")
        assert table("fail").version == versions["fail"]
