"""Two dbt processes that write to tables on S3 through one server."""

from tests.servers.concurrent_runs import (  # noqa: F401
    outcomes,
    runners,
    test_every_run_succeeds,
    test_no_row_is_lost_and_none_is_there_twice,
    test_the_schema_holds_what_both_have_written,
    test_they_were_in_each_others_way,
)
