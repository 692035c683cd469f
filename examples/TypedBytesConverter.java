import org.apache.hadoop.typedbytes.TypedBytesWritable;
import org.apache.spark.api.python.Converter;

/** Lets PySpark save bytes as TypedBytesWritables: the converter that spark.py names for keys and values. */
public class TypedBytesConverter implements Converter<Object, TypedBytesWritable> {
  @Override
  public TypedBytesWritable convert(Object encoded) {
    return new TypedBytesWritable((byte[]) encoded);
  }
}
