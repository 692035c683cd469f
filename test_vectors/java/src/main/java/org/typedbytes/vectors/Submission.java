package org.typedbytes.vectors;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.FileOutputFormat;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.streaming.PipeMapRed;
import org.apache.hadoop.streaming.PipeMapper;
import org.apache.hadoop.streaming.StreamJob;
import org.apache.hadoop.util.ToolRunner;

/**
 * What a node of a cluster reads of a Hadoop Streaming command line: parsed by Hadoop, sent as job.xml, and no job run.
 */
final class Submission extends StreamJob {
    private static final Configuration DEFAULTS = new JobConf(); // reading them takes long

    private Submission() {}

    /**
     * Reads command lines, a line each, their words in hexadecimal UTF-8 with blanks between;
     * prints a JSON line for each.
     */
    static void tell(InputStream source, PrintStream out) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(source, StandardCharsets.US_ASCII));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = Arrays.stream(line.split(" "))
                    .map(word -> new String(Hex.parse(word), StandardCharsets.UTF_8))
                    .toArray(String[]::new);
            String told;
            try {
                told = new Submission().told(words);
            } catch (Exception failure) {
                told = Json.object("refused", Json.quote(failure.toString()));
            }
            out.println(told);
        }
    }

    /** Stands for the whole of the submission, which has come to its job configuration. */
    @Override
    public int submitAndMonitorJob() {
        return 0;
    }

    private String told(String... words) throws Exception {
        int code = ToolRunner.run(new Configuration(DEFAULTS), this, words);
        if (code != 0) {
            return Json.object("refused", Json.quote("code " + code));
        }
        JobConf there = sent(jobConf_);
        List<String> properties = new ArrayList<>();
        for (int i = 0; i < words.length; i++) {
            if (words[i].equals("-D")) {
                String name = words[i + 1].split("=", 2)[0];
                properties.add(name);
                String value = there.getRaw(name) == null ? DEFAULTS.getRaw(name) : there.getRaw(name);
                properties.add(value == null ? "null" : Json.quote(value));
            }
        }
        return Json.object(
                "mapper", command(there, "stream.map.streamprocessor"),
                "combiner", command(there, "stream.combine.streamprocessor"),
                "reducer", command(there, "stream.reduce.streamprocessor"),
                "environment", environment(there),
                "files", links(there, "tmpfiles"),
                "archives", links(there, "tmparchives"),
                "inputs", texts(Arrays.stream(FileInputFormat.getInputPaths(there))
                        .map(Path::toString)
                        .collect(Collectors.toList())),
                "output", Json.quote(FileOutputFormat.getOutputPath(there).toString()),
                "properties", Json.object(properties.toArray(new String[0])));
    }

    /** What is not by default in the configuration, as a task gets it: by way of XML. */
    private static JobConf sent(JobConf here) throws IOException {
        JobConf own = new JobConf(false);
        for (Map.Entry<String, String> property : here) {
            if (!property.getValue().equals(DEFAULTS.getRaw(property.getKey()))) {
                own.set(property.getKey(), property.getValue());
            }
        }
        ByteArrayOutputStream xml = new ByteArrayOutputStream();
        own.writeXml(xml);
        JobConf there = new JobConf(false);
        there.addResource(new ByteArrayInputStream(xml.toByteArray()));
        return there;
    }

    private static String command(JobConf conf, String name) throws Exception {
        String command = conf.get(name);
        return command == null ? "null" : texts(splitArgs(URLDecoder.decode(command, "UTF-8")));
    }

    private static List<String> splitArgs(String command) throws Exception {
        return Arrays.asList((String[]) called(null, "splitArgs", new Class<?>[] {String.class}, command));
    }

    private static String environment(JobConf conf) throws Exception {
        Properties variables = new Properties();
        Class<?>[] types = {Properties.class, String.class};
        called(new PipeMapper(), "addEnvironment", types, variables, conf.get("stream.addenvironment"));
        List<String> members = new ArrayList<>();
        for (Map.Entry<Object, Object> variable : variables.entrySet()) {
            members.add((String) variable.getKey());
            members.add(Json.quote((String) variable.getValue()));
        }
        return Json.object(members.toArray(new String[0]));
    }

    /**
     * Each file's path and its name in the folder of a task, as JobResourceUploader and LocalResourceBuilder take them.
     */
    private static String links(JobConf conf, String name) throws Exception {
        List<String> links = new ArrayList<>();
        for (String word : conf.getStringCollection(name)) {
            URI uri = new URI(word);
            Path path = new Path(uri);
            String link = uri.getFragment() == null ? path.getName() : new Path(uri.getFragment()).toUri().getPath();
            links.add(texts(Arrays.asList(path.toUri().getPath(), link)));
        }
        return Json.array(links);
    }

    private static String texts(Collection<String> texts) {
        return Json.array(texts.stream().map(Json::quote).collect(Collectors.toList()));
    }

    /** Calls a method of PipeMapRed that only its own package sees. */
    private static Object called(Object self, String name, Class<?>[] types, Object... arguments) throws Exception {
        Method method = PipeMapRed.class.getDeclaredMethod(name, types);
        method.setAccessible(true);
        try {
            return method.invoke(self, arguments);
        } catch (InvocationTargetException failure) {
            throw new IOException(failure.getCause());
        }
    }
}
