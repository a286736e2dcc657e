"""Talk to a Spark Connect server on 127.0.0.1 that demands a token."""

import uuid
import warnings
from typing import Any

from dbt.adapters.deltawiden.spark.connect import remote_builder
from dbt.adapters.deltawiden.spark.keep_alive.settings import LOOPBACK

NEEDED_BY = "keep_alive"
# PySpark's default goes on for ten minutes, for servers that are far away.
_RETRIES = 4
_LONGEST_WAIT = 1000  # milliseconds
# gRPC asks the proxy of https_proxy for this machine, too: it would get the token.
_NO_PROXY = ("grpc.enable_http_proxy", 0)


def local_builder(port: int, token: str) -> Any:
    """Return a builder of sessions on the server that demands a token."""
    builder = remote_builder(NEEDED_BY)
    from pyspark.sql.connect.client.core import DefaultChannelBuilder

    class LocalChannel(DefaultChannelBuilder):
        """A channel to this machine. PySpark itself sends a token without TLS to `localhost` only.

        That name can also mean another address, ::1, where another user's process may listen.
        """

        def toChannel(self) -> Any:
            return self._secure_channel(self.endpoint, _credentials(token))

    channel = LocalChannel(f"sc://{LOOPBACK}:{port}/")
    channel.setChannelOption(*_NO_PROXY)
    return builder.channelBuilder(channel)


def limit_retries(session: Any) -> None:
    """Let a statement fail soon if the session's server has ended."""
    # The error says it, too.
    warnings.filterwarnings("ignore", message=r"\[RETRIES_EXCEEDED\]")
    from pyspark.sql.connect.client.retries import DefaultPolicy

    session.client.set_retry_policies(
        [DefaultPolicy(max_retries=_RETRIES, max_backoff=_LONGEST_WAIT)]
    )


def server_problem(port: int, token: str, seconds: float, is_busy: bool = False) -> str | None:
    """Ask a server to run a task. One that has lost its executor still answers other requests.

    Args:
        seconds: how long to wait for the answer.
        is_busy: whether others use the server. Then an answer without a task is enough if no core
            is free in that time.

    Returns:
        None if it is healthy, or what it answered instead.
    """
    remote_builder(NEEDED_BY)
    import grpc
    from pyspark.sql.connect.proto import base_pb2, base_pb2_grpc, relations_pb2

    names: dict[str, Any] = {"session_id": str(uuid.uuid4())}
    names["user_context"] = base_pb2.UserContext(user_id="")
    one_task = relations_pb2.Range(start=0, end=1, step=1, num_partitions=1)
    plan = base_pb2.Plan(root=relations_pb2.Relation(range=one_task))
    version = base_pb2.AnalyzePlanRequest.SparkVersion()
    address = f"{LOOPBACK}:{port}"
    with grpc.secure_channel(address, _credentials(token), options=[_NO_PROXY]) as channel:
        stub = base_pb2_grpc.SparkConnectServiceStub(channel)
        try:
            try:
                run = stub.ExecutePlan(
                    base_pb2.ExecutePlanRequest(plan=plan, **names), timeout=seconds
                )
                for _ in run:
                    pass
            except grpc.RpcError as error:
                if not (is_busy and _code(error) == grpc.StatusCode.DEADLINE_EXCEEDED):
                    raise
                request = base_pb2.AnalyzePlanRequest(spark_version=version, **names)
                stub.AnalyzePlan(request, timeout=seconds)
            stub.ReleaseSession(base_pb2.ReleaseSessionRequest(**names), timeout=seconds)
        except grpc.RpcError as error:
            status: Any = error
            return f"{_code(error).name}: {status.details()}"
    return None


def _code(error: Any) -> Any:
    return error.code()


def _credentials(token: str) -> Any:
    import grpc

    return grpc.composite_channel_credentials(
        grpc.local_channel_credentials(), grpc.access_token_call_credentials(token)
    )
