import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.ql.IDriver;
import org.apache.hadoop.hive.ql.processors.CommandProcessor;
import org.apache.hadoop.hive.ql.processors.CommandProcessorFactory;
import org.apache.hadoop.hive.ql.processors.CommandProcessorResponse;
import org.apache.hadoop.hive.ql.session.SessionState;

/**
 * Runs statements of Hive, one an argument, in this process: its metastore in memory, all files in a folder, jobs by
 * Hadoop's local runner. Prints the rows of each.
 */
public class Query {
  public static void main(String[] arguments) throws Exception {
    if (!(Query.class.getClassLoader() instanceof URLClassLoader)) { // as Hive takes for granted
      List<URL> urls = new ArrayList<>();
      for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
        urls.add(new File(path).toURI().toURL());
      }
      URLClassLoader loader =
          new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
      Thread.currentThread().setContextClassLoader(loader);
      loader.loadClass("Query").getMethod("main", String[].class).invoke(null, (Object) arguments);
      return;
    }
    SessionState.start(configured(new HiveConf(SessionState.class), arguments[0]));
    for (int i = 1; i < arguments.length; i++) {
      run(arguments[i].trim(), SessionState.get().getConf());
    }
    System.out.flush();
    Runtime.getRuntime().halt(0);
  }

  private static HiveConf configured(HiveConf conf, String folder) {
    String[] settings = {
      "javax.jdo.option.ConnectionURL", "jdbc:derby:memory:metastore;create=true",
      "datanucleus.schema.autoCreateAll", "true",
      "hive.metastore.schema.verification", "false",
      "hive.metastore.warehouse.dir", folder + "/warehouse",
      "hive.exec.scratchdir", folder + "/scratch",
      "hive.exec.local.scratchdir", folder + "/scratch-local",
      "hive.querylog.location", folder + "/log",
      "hive.downloaded.resources.dir", folder + "/resources",
      "hadoop.tmp.dir", folder + "/tmp",
      "fs.defaultFS", "file:///",
      "hive.execution.engine", "mr",
      "mapreduce.framework.name", "local",
      "hive.exec.submitviachild", "false",
      "hive.cbo.enable", "false",
      "hive.stats.autogather", "false",
    };
    for (int i = 0; i < settings.length; i += 2) {
      conf.set(settings[i], settings[i + 1]);
    }
    return conf;
  }

  private static void run(String statement, HiveConf conf) throws Exception {
    String[] words = statement.split("\\s+", 2);
    CommandProcessor processor = CommandProcessorFactory.get(words, conf);
    boolean isQuery = processor instanceof IDriver;
    CommandProcessorResponse response = processor.run(isQuery ? statement : words[1]);
    if (response.getResponseCode() != 0) {
      System.err.println(response.getErrorMessage());
      Runtime.getRuntime().halt(1);
    }
    List<String> rows = new ArrayList<>();
    if (isQuery) {
      ((IDriver) processor).getResults(rows);
    }
    rows.forEach(System.out::println);
  }
}
