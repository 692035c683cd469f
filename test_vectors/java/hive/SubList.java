package org.apache.hadoop.hive.ql.exec;

import java.util.ArrayList;
import java.util.List;
import org.apache.hive.com.esotericsoftware.kryo.Kryo;
import org.apache.hive.com.esotericsoftware.kryo.Serializer;
import org.apache.hive.com.esotericsoftware.kryo.io.Input;
import org.apache.hive.com.esotericsoftware.kryo.io.Output;

/** Stands in for Hive's own, which looks for a private field that lists had in Java 8. */
class SerializationUtilities$ArrayListSubListSerializer extends Serializer<List<?>> {
  @Override
  public void write(Kryo kryo, Output out, List<?> list) {
    kryo.writeClassAndObject(out, new ArrayList<>(list));
  }

  @Override
  public List<?> read(Kryo kryo, Input in, Class<List<?>> type) {
    return (List<?>) kryo.readClassAndObject(in);
  }
}
