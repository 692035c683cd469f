package org.typedbytes.vectors;

import org.apache.hadoop.io.ArrayWritable;
import org.apache.hadoop.io.Text;

/**
 * An ArrayWritable that Hadoop can make by itself: the class of the items is known from this class
 * alone, not from the bytes.
 */
public final class TextArray extends ArrayWritable {
    public TextArray() {
        super(Text.class);
    }

    TextArray(String... items) {
        this();
        Text[] texts = new Text[items.length];
        for (int i = 0; i < items.length; i++) {
            texts[i] = new Text(items[i]);
        }
        set(texts);
    }
}
