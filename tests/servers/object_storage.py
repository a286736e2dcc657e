"""An S3 server on loopback: moto."""

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3

from tests.servers import s3_server
from tests.servers.server import LOOPBACK, free_port, watched

# The version of the Hadoop that PySpark includes.
HADOOP_AWS = "org.apache.hadoop:hadoop-aws:3.4.2"
ACCESS_KEY = "AKIALOOPBACK"
SECRET_KEY = "object-storage-s3cret"
BUCKET = "lake"
REGION = "us-east-1"


@dataclass(frozen=True)
class ObjectStorage:
    """An S3 server with one bucket.

    Attributes:
        client: a client of it.
        bucket: the bucket's name.
        settings: the settings of Spark for this server, with a warehouse in the bucket.
    """

    client: Any
    bucket: str
    settings: dict[str, str]

    def keys(self, location: str) -> list[str]:
        """List the keys of the objects in a folder, such as ``s3a://lake/warehouse/orders``."""
        prefix = location.removeprefix(f"s3a://{self.bucket}/").rstrip("/") + "/"
        pages = self.client.get_paginator("list_objects_v2")
        found = pages.paginate(Bucket=self.bucket, Prefix=prefix)
        return [entry["Key"] for page in found for entry in page.get("Contents", [])]


@contextlib.contextmanager
def object_storage(folder: Path) -> Iterator[ObjectStorage]:
    """Run an S3 server with an empty bucket until the block or this process ends.

    Args:
        folder: the folder of its log. Objects are in memory.
    """
    port = free_port()
    endpoint = f"http://{LOOPBACK}:{port}"
    command = [sys.executable, s3_server.__file__, LOOPBACK, str(port)]
    with watched(command, folder, [port]):
        client = boto3.client(
            "s3",
            endpoint_url=endpoint,
            region_name=REGION,
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
        )
        client.create_bucket(Bucket=BUCKET)
        yield ObjectStorage(client, BUCKET, _settings(endpoint))


def _settings(endpoint: str) -> dict[str, str]:
    s3a = "spark.hadoop.fs.s3a"
    return {
        "spark.sql.warehouse.dir": f"s3a://{BUCKET}/warehouse",
        f"{s3a}.endpoint": endpoint,
        f"{s3a}.endpoint.region": REGION,
        f"{s3a}.path.style.access": "true",
        f"{s3a}.access.key": ACCESS_KEY,
        f"{s3a}.secret.key": SECRET_KEY,
    }
