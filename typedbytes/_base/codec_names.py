"""The names of the codecs of SequenceFiles, short ones and those of Hadoop's classes.

What they do is in `sequencefile._codecs`. This file imports nothing: the arguments of commands need the names.
"""

APACHE = "org.apache.hadoop.io.compress."

CLASSES = {
    "default": f"{APACHE}DefaultCodec",
    "gzip": f"{APACHE}GzipCodec",
    "bzip2": f"{APACHE}BZip2Codec",
    "snappy": f"{APACHE}SnappyCodec",
    "lz4": f"{APACHE}Lz4Codec",
    "zstd": f"{APACHE}ZStandardCodec",
    "lzo": "com.hadoop.compression.lzo.LzoCodec",
}
WRITABLE_CODECS = tuple(name for name in CLASSES if name != "lzo")
