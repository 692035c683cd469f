"""Descriptions of classes that many files have, for which no user has to write one.

Each is proved by bytes that the class's own Java code wrote: see test_vectors/sequencefile/classes.jsonl.
"""

__all__ = ["TEXTS"]

_HADOOP = "org.apache.hadoop."
_HIVE = "org.apache.hadoop.hive.serde2."
_HBASE = "org.apache.hadoop.hbase."
_NUTCH = "org.apache.nutch."
_METADATA = "map<text, list<text>>"

TEXTS = {
    f"{_HADOOP}io.EnumSetWritable": "EnumSetWritable",
    # org.apache.hadoop.io.serializer.JavaSerialization
    **{
        f"java.lang.{name}": f"java.{name}"
        for name in ("String", "Byte", "Short", "Integer", "Long", "Float", "Double", "Boolean", "Character")
    },
    # HBase: Export, Import, HashTable, bulk loads
    f"{_HBASE}io.ImmutableBytesWritable": "bytes",
    f"{_HBASE}KeyValue": "hbase.KeyValue",
    f"{_HBASE}client.Result": "hbase.Result",
    **{f"{_HBASE}client.{name}": "hbase.Mutation" for name in ("Mutation", "Put", "Delete")},
    # Hive
    f"{_HIVE}io.ByteWritable": "byte",
    f"{_HIVE}io.ShortWritable": "short",
    f"{_HIVE}io.DoubleWritable": "double",
    f"{_HIVE}io.DateWritable": "vint",
    f"{_HIVE}io.DateWritableV2": "vint",
    f"{_HIVE}io.TimestampWritable": "hive.Timestamp",
    f"{_HIVE}io.TimestampWritableV2": "hive.Timestamp",
    f"{_HIVE}io.HiveDecimalWritable": "hive.Decimal",
    f"{_HIVE}io.HiveCharWritable": "text",
    f"{_HIVE}io.HiveVarcharWritable": "text",
    f"{_HIVE}io.HiveIntervalYearMonthWritable": "vint",
    f"{_HIVE}io.HiveIntervalDayTimeWritable": "seconds: vlong, nanos: vint",
    f"{_HIVE}columnar.BytesRefArrayWritable": "list<bytes>",
    # Mahout
    "org.apache.mahout.math.VectorWritable": "mahout.Vector",
    # Nutch
    f"{_NUTCH}crawl.CrawlDatum": (
        "version: byte = 7, status: byte, fetchTime: long, retries: byte, fetchInterval: int, score: float, "
        "modifiedTime: long, signature: bytes<byte>, metaData: optional<MapWritable>"
    ),
    f"{_NUTCH}crawl.Inlinks": "list<{fromUrl: text, anchor: text}>",
    f"{_NUTCH}parse.ParseData": (
        "version: byte = 5, status: {version: byte = 2, majorCode: byte, minorCode: short, args: strings}, "
        "title: text, outlinks: list<{toUrl: text, anchor: text, metadata: optional<MapWritable>}>, "
        f"contentMeta: {_METADATA}, parseMeta: {_METADATA}"
    ),
    f"{_NUTCH}parse.ParseText": "version: byte = 2, text",
    f"{_NUTCH}protocol.Content": (
        f"version: int = -1, url: text, base: text, content: bytes, contentType: text, metadata: {_METADATA}"
    ),
}
