"""The user metadata of commits that a profile or a hook sets is there again after our own."""

import json

import pytest

from dbt.adapters.deltawiden.delta.backends.sql import USER_METADATA, SqlBackend


@pytest.fixture
def backend(project):
    """Statements alone, as on a Thrift server, with a session of their own."""
    # This connection changes the session itself, not a copy.
    with project.adapter.connection_named("master"):
        handle = project.adapter._handle()
        with handle.with_setting("spark.sql.session.timeZone", "UTC"):
            yield SqlBackend(project.adapter.execute, project.adapter._handle)


@pytest.mark.parametrize("own", [None, "team=a, b;c", '{"k": "it\'s"}', "007", "a`b\nc"])
def test_is_restored(backend, own):
    conf = backend._handle().session.conf
    if own is not None:
        conf.set(USER_METADATA, own)
    for changed_by in ("model.x.first", "model.x.second"):
        with backend.tagged_commits(changed_by):
            assert json.loads(conf.get(USER_METADATA))["changed_by"] == changed_by
        assert conf.get(USER_METADATA, None) == own
