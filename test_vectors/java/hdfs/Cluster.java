import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** Runs a NameNode and a DataNode in a folder, says their ports of HTTP and HDFS, and ends when standard input does. */
public class Cluster {
  public static void main(String[] arguments) throws Exception {
    Configuration conf = new Configuration();
    MiniDFSCluster cluster = new MiniDFSCluster.Builder(conf, new File(arguments[0])).numDataNodes(1).build();
    cluster.waitClusterUp();
    System.out.println(cluster.getNameNode().getHttpAddress().getPort());
    System.out.println(cluster.getNameNodePort());
    System.out.flush();
    while (System.in.read() >= 0) {}
    cluster.shutdown(true);
    System.exit(0);
  }
}
