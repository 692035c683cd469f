package org.typedbytes.vectors;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.record.Buffer;
import org.apache.hadoop.record.Record;
import org.apache.hadoop.record.RecordInput;
import org.apache.hadoop.record.RecordOutput;

/** A record of Hadoop's old record package with an int, a string, a buffer and a vector: written as a LIST. */
@SuppressWarnings("deprecation")
public final class SampleRecord extends Record {
    @Override
    public void serialize(RecordOutput out, String tag) throws IOException {
        ArrayList<Integer> vector = new ArrayList<>(List.of(1));
        out.startRecord(this, tag);
        out.writeInt(7, "i");
        out.writeString("x", "s");
        out.writeBuffer(new Buffer(new byte[] {1, 2}), "b");
        out.startVector(vector, "v");
        out.writeInt(vector.get(0), "e");
        out.endVector(vector, "v");
        out.endRecord(this, tag);
    }

    @Override
    public void deserialize(RecordInput in, String tag) {
        throw new UnsupportedOperationException("a sample is only written");
    }

    @Override
    public int compareTo(Object other) {
        throw new UnsupportedOperationException("a sample is only written");
    }
}
