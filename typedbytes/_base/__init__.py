"""What every package may use, each module for one thing.

    locations       paths, URLs, and folders of part files and of MapFiles
    folders         folders and their files, on this machine and at URLs
    atomic          files and folders that get their names when they are complete, and temporary ones
    read_ahead      files of other machines in large pieces, the next of which is fetched meanwhile
    hdfs            HDFS by hdfs-native, with whole names, limits of waiting, and one kind of error
    name_nodes      the name nodes of a cluster, in the order to try them in

    magic           the first bytes of known formats
    compression     whole files of gzip, bzip2, xz, Zstandard, lzop and Hadoop's codecs
    chunks, lzop    what Hadoop's Snappy, LZ4 and LZO, and lzop, make of a file
    bzip2           splits of text that bzip2 has compressed
    zstd            the library of Zstandard, and frames that would cost too much
    codec_names     the codecs of SequenceFiles
    npy             arrays of type code 102

    codes           the type codes
    annotations     what annotations of users' functions mean
    collisions      a limit on comparing the keys of one MAP
    options         the types of options, for type checkers alone
    sizes           sizes in bytes as users write them: 64K, 1.5G

    exit_codes      how tasks and the command end
    unflushed       the end of a process whose writers could not write their buffers
    pipes, posix    the size of pipes, and the error where there is no POSIX
    secrets         passwords and keys, hidden in messages

These modules import one another and the errors, and nothing else of typedbytes.
"""
