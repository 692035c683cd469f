import java.io.BufferedReader;
import java.io.File;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.mapreduce.v2.MiniMRYarnCluster;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.server.nodemanager.NodeManager;

/**
 * A Hadoop cluster in this virtual machine: YARN, and HDFS or the files of this machine.
 *
 * <p>{@code Cluster FOLDER NODEMANAGERS DATANODES} keeps its files in the folder, writes the configuration that clients
 * need into its folder conf, prints UP, and lives until its standard input ends. A line there kills a node. Each task
 * runs in a virtual machine of its own. Without data nodes there is no HDFS.
 */
public final class Cluster {
    private static final String SMALL = "-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1";

    /** Small machines, quick heartbeats, no second attempts, nodes soon given up, logs of finished jobs gathered. */
    private static final Map<String, String> SETTINGS =
            Map.ofEntries(
                    Map.entry("yarn.app.mapreduce.am.command-opts",
                            SMALL + " --add-opens=java.base/java.lang=ALL-UNNAMED"),
                    Map.entry("mapreduce.map.java.opts", SMALL),
                    Map.entry("mapreduce.reduce.java.opts", SMALL),
                    Map.entry("mapreduce.task.io.sort.mb", "64"),
                    Map.entry("yarn.app.mapreduce.am.resource.mb", "512"),
                    Map.entry("mapreduce.map.memory.mb", "512"),
                    Map.entry("mapreduce.reduce.memory.mb", "512"),
                    Map.entry("yarn.scheduler.minimum-allocation-mb", "256"),
                    Map.entry("yarn.nodemanager.resource.memory-mb", "2048"),
                    Map.entry("yarn.nodemanager.vmem-check-enabled", "false"),
                    Map.entry("yarn.nodemanager.pmem-check-enabled", "false"),
                    Map.entry("yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", "99.9"),
                    Map.entry("yarn.nodemanager.env-whitelist", "JAVA_HOME,LANG"),
                    Map.entry("yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", "100"),
                    Map.entry("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", "100"),
                    Map.entry("mapreduce.client.progressmonitor.pollinterval", "100"),
                    Map.entry("mapreduce.job.maps", "1"),
                    Map.entry("mapreduce.map.maxattempts", "1"),
                    Map.entry("mapreduce.reduce.maxattempts", "1"),
                    Map.entry("yarn.resourcemanager.am.max-attempts", "1"),
                    Map.entry("yarn.nm.liveness-monitor.expiry-interval-ms", "20000"),
                    Map.entry("yarn.client.nodemanager-connect.max-wait-ms", "3000"),
                    Map.entry("yarn.client.nodemanager-connect.retry-interval-ms", "500"),
                    Map.entry("yarn.log-aggregation-enable", "true"));

    private Cluster() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err); // Hadoop prints here and there
        File folder = new File(arguments[0]).getAbsoluteFile();
        int managers = Integer.parseInt(arguments[1]);
        int dataNodes = Integer.parseInt(arguments[2]);
        System.setProperty("test.build.data", folder.getPath());
        Configuration settings = new Configuration();
        SETTINGS.forEach(settings::set);

        settings.set("yarn.nodemanager.remote-app-log-dir", new File(folder, "logs").getPath());
        MiniDFSCluster files = null;
        if (dataNodes > 0) {
            files =
                    new MiniDFSCluster.Builder(settings, new File(folder, "dfs")).numDataNodes(dataNodes).format(true)
                            .build();
            files.waitClusterUp();
            settings.set("fs.defaultFS", files.getFileSystem().getUri().toString());
        }
        MiniMRYarnCluster yarn = new MiniMRYarnCluster("typedbytes", managers);
        yarn.init(settings);
        yarn.start();

        // All four: with core-site.xml alone, the defaults of the others come back and a job runs in the client.
        File conf = new File(folder, "conf");
        conf.mkdirs();
        for (String name : new String[] {"core", "hdfs", "yarn", "mapred"}) {
            try (OutputStream file = new FileOutputStream(new File(conf, name + "-site.xml"))) {
                yarn.getConfig().writeXml(file);
            }
        }
        out.println("UP");
        out.flush();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        while (commands.readLine() != null) {
            if (files != null) files.stopDataNode(0);
            out.println(killNode(yarn, managers));
            out.flush();
        }
        Runtime.getRuntime().halt(0); // stopping gracefully takes 15 seconds
    }

    /** Ends a node that has containers of tasks, and not of an application master; how many containers there were. */
    private static int killNode(MiniMRYarnCluster yarn, int managers) {
        Set<NodeId> masters =
                yarn.getResourceManager().getRMContext().getRMApps().values().stream()
                        .filter(each -> each.getFinalApplicationStatus() == FinalApplicationStatus.UNDEFINED)
                        .map(each -> each.getCurrentAppAttempt().getMasterContainer().getNodeId())
                        .collect(Collectors.toSet());
        for (int i = 0; i < managers; i++) {
            NodeManager node = yarn.getNodeManager(i);
            int ncontainers = node.getNMContext().getContainers().size();
            if (ncontainers == 0 || masters.contains(node.getNMContext().getNodeId())) continue;
            node.stop();
            return ncontainers;
        }
        return 0;
    }
}
