"""The types in the footers of a table's Parquet files."""

from pyspark.sql import SparkSession


def stored_types(spark: SparkSession, table: str, column: str) -> set[str]:
    """Read the types of a column from the footers of a table's files, in Parquet's words."""
    files = spark.sql(f"select distinct _metadata.file_path from {table}").collect()
    return {_stored_type(spark, file.file_path, column) for file in files}


def _stored_type(spark: SparkSession, path: str, column: str) -> str:
    jvm = spark.sparkContext._jvm
    hadoop, parquet = jvm.org.apache.hadoop, jvm.org.apache.parquet.hadoop
    name = hadoop.fs.Path(jvm.java.net.URI(path))
    file = parquet.util.HadoopInputFile.fromPath(name, hadoop.conf.Configuration())
    reader = parquet.ParquetFileReader.open(file)
    try:
        schema = reader.getFooter().getFileMetaData().getSchema()
    finally:
        reader.close()
    found = str(schema.getType(schema.getFieldIndex(column)).toString())
    # Nullability is not part of a type.
    return found.replace("required ", "optional ")
