package org.typedbytes.vectors;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.streaming.DumpTypedBytes;
import org.apache.hadoop.streaming.LoadTypedBytes;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * Hadoop's word on TypedBytes, on the command line.
 *
 * <pre>
 *   golden            the golden vectors, one JSON line each
 *   probe TABLE       the readings of the inputs in the table, one JSON line each
 *   raw               a stream of values copied by readRaw
 *   rewrite           a stream of values read and written again
 *   json              a stream of values as tagged JSON lines
 *   place             a stream of keys as JSON lines with their hash code and partitions
 *   sort              a stream of keys in the order of Hadoop's sort
 *   loadtb FILE       a stream of pairs into a SequenceFile
 *   dumptb FILE       a SequenceFile, or all in a folder, as a stream of pairs
 *   seqrecords        the keys and values of the vectors of SequenceFiles, a JSON line a kind
 *   seqfiles          these SequenceFiles, one JSON line each
 *   seqread FILE      a SequenceFile as JSON lines: its header, then its records
 *   seqsplits FILE    for each line "start length" the keys of the records of that split
 *   splitpairs FORMAT FILE       for each line "start length" the pairs of that split as typed bytes
 *   splitwhole FORMAT FILE       for each line "start length" the bytes of that split, and what its task is told
 *   splitsizes FORMAT FILE SIZE  the splits of a file, ours and Hadoop's, a line each
 *   seqwrite FILE COMPRESSION CODEC NRECORDS NBYTES SYNC   a SequenceFile of numbered records
 *   seqtime FILE NROUNDS                                   how long reading a SequenceFile of typed bytes takes
 *   mapfile FOLDER COMPRESSION BLOOM NRECORDS              a MapFile, or a BloomMapFile
 *   compress CODEC    its input, compressed as a whole by the codec of this class
 *   submission        for each command line of Hadoop Streaming what a node reads of it, as JSON lines
 *   job ARGUMENT ...  a Hadoop Streaming job; prints its counters as JSON
 *   serve             any number of the commands above in this one virtual machine
 * </pre>
 *
 * <p>{@code serve} reads one command a line, its parts separated by a TAB: a file for the command's input, one for its
 * output, and the command's words. After each command it prints its exit code as a line.
 */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err); // Hadoop prints here and there
        int code = 0;
        if (arguments[0].equals("serve")) {
            serve(System.in, out);
        } else {
            code = run(System.in, out, arguments);
        }
        out.flush();
        System.exit(code);
    }

    private static void serve(InputStream commands, PrintStream replies) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(commands, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] parts = line.split("\t", -1);
            int code;
            try (InputStream in = new FileInputStream(parts[0]);
                    OutputStream out = new FileOutputStream(parts[1])) {
                code = run(in, out, Arrays.copyOfRange(parts, 2, parts.length));
            } catch (Exception | Error failure) {
                failure.printStackTrace();
                code = 70;
            }
            System.err.flush();
            replies.println(code);
            replies.flush();
        }
    }

    private static int run(InputStream in, OutputStream sink, String... words) throws Exception {
        String[] arguments = Arrays.copyOfRange(words, 1, words.length);
        PrintStream out = new PrintStream(sink, false, StandardCharsets.US_ASCII);
        int code = 0;
        switch (words[0]) {
            case "golden":
                Golden.print(out);
                break;
            case "probe":
                Probes.print(Path.of(arguments[0]), out);
                break;
            case "raw":
                Filters.raw(in, sink);
                break;
            case "rewrite":
                Filters.rewrite(in, sink);
                break;
            case "json":
                Filters.json(in, sink);
                break;
            case "place":
                Filters.place(in, sink);
                break;
            case "sort":
                Filters.sort(in, sink);
                break;
            case "loadtb":
                code = tool(new LoadTypedBytes(new Configuration()), in, out, arguments);
                break;
            case "dumptb":
                code = tool(new DumpTypedBytes(new Configuration()), in, out, arguments);
                break;
            case "seqrecords":
                SequenceFiles.printRecords(out);
                break;
            case "seqfiles":
                SequenceFiles.printFiles(out);
                break;
            case "seqread":
                SequenceFiles.read(arguments[0], out);
                break;
            case "seqsplits":
                SequenceFiles.splits(arguments[0], in, out);
                break;
            case "splitpairs":
                Splits.pairs(arguments[0], arguments[1], in, sink);
                break;
            case "splitwhole":
                Splits.whole(arguments[0], arguments[1], in, sink);
                break;
            case "splitsizes":
                Splits.sizes(arguments[0], arguments[1], Long.parseLong(arguments[2]), sink);
                break;
            case "seqwrite":
                SequenceFiles.writeNumbered(
                        arguments[0],
                        arguments[1],
                        arguments[2],
                        Integer.parseInt(arguments[3]),
                        Integer.parseInt(arguments[4]),
                        Integer.parseInt(arguments[5]));
                break;
            case "seqtime":
                SequenceFiles.time(arguments[0], Integer.parseInt(arguments[1]), out);
                break;
            case "mapfile":
                SequenceFiles.writeMapFile(
                        arguments[0], arguments[1], Boolean.parseBoolean(arguments[2]), Integer.parseInt(arguments[3]));
                break;
            case "compress":
                Filters.compress(arguments[0], in, sink);
                break;
            case "submission":
                Submission.tell(in, out);
                break;
            case "job":
                Job job = new Job();
                code = job.submit(arguments);
                out.println(job.counters());
                break;
            default:
                System.err.println("unknown command: " + words[0]);
                code = 64;
        }
        out.flush();
        return code;
    }

    /** Runs one of Hadoop's tools, which read System.in and print to System.out, on the streams given. */
    private static int tool(Tool tool, InputStream in, PrintStream out, String... arguments) throws Exception {
        InputStream stdin = System.in;
        PrintStream stdout = System.out;
        System.setIn(in);
        System.setOut(out);
        try {
            return ToolRunner.run(tool, arguments);
        } finally {
            System.setIn(stdin);
            System.setOut(stdout);
        }
    }
}
