package org.typedbytes.hadoop;

import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.streaming.io.IdentifierResolver;

/** Knows, besides Hadoop Streaming's own names of formats, "split": the pieces of {@link SplitInputFormat}. */
public final class SplitIdentifierResolver extends IdentifierResolver {
    /** The name, as in {@code -D stream.map.input=split}. */
    public static final String SPLIT_ID = "split";

    @Override
    public void resolve(String identifier) {
        if (!SPLIT_ID.equalsIgnoreCase(identifier)) {
            super.resolve(identifier);
            return;
        }
        setInputWriterClass(SplitInputWriter.class);
        setOutputReaderClass(SplitOutputReader.class);
        setOutputKeyClass(NullWritable.class);
        setOutputValueClass(BytesWritable.class);
    }
}
