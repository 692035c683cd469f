package org.typedbytes.hadoop;

import org.apache.hadoop.mapred.JobConf;

import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;

/** What the files of a job hold; named by its property {@value #PROPERTY}, which its tasks see in their environment. */
enum SplitFormat {
    /** Lines, as {@code TextInputFormat} takes them. */
    TEXT,
    /** Pairs of any classes, as {@code SequenceFileInputFormat} takes them. */
    SEQUENCEFILE,
    /** Pairs of typed bytes, and nothing else. */
    TYPEDBYTES;

    static final String PROPERTY = "typedbytes.split.format";

    static SplitFormat of(JobConf job) throws IOException {
        String name = job.get(PROPERTY, "");
        for (SplitFormat each : values()) {
            if (each.toString().equals(name)) return each;
        }
        throw new IOException("the property " + PROPERTY + " must be one of " + Arrays.toString(values()) + ", not '"
                + name + "'");
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
