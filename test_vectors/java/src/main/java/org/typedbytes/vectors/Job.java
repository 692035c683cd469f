package org.typedbytes.vectors;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.streaming.StreamJob;
import org.apache.hadoop.util.ToolRunner;

/** One Hadoop Streaming job, with its counters at hand after it ran. */
final class Job extends StreamJob {
    /** Runs the job that the arguments of {@code hadoop jar hadoop-streaming.jar} describe; its exit code. */
    int submit(String... arguments) throws Exception {
        int code = ToolRunner.run(new Configuration(), this, arguments);
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            // A job is seen to have failed before its thread logs why.
            if (thread.getClass().getName().equals("org.apache.hadoop.mapred.LocalJobRunner$Job")) {
                thread.join();
            }
        }
        return code;
    }

    /** The counters of all groups as JSON, {@code {GROUP:{NAME:N}}}; none when the job never ran. */
    String counters() throws Exception {
        List<String> groups = new ArrayList<>();
        if (running_ != null && running_.getCounters() != null) {
            for (Counters.Group group : running_.getCounters()) {
                groups.add(group.getName());
                groups.add(counters(group));
            }
        }
        return Json.object(groups.toArray(new String[0]));
    }

    private static String counters(Counters.Group group) {
        List<String> counters = new ArrayList<>();
        for (Counters.Counter counter : group) {
            counters.add(counter.getName());
            counters.add(Long.toString(counter.getCounter()));
        }
        return Json.object(counters.toArray(new String[0]));
    }
}
