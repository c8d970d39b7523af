package esi;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Pi by throwing darts: a job that only computes, always the same amount.
 *
 * <p>Arguments: tasks, millions of darts for each, megabytes outside of the heap that each keeps (0),
 * seconds that each only waits (0).
 */
public final class Pi {
  private static final List<ByteBuffer> KEPT = Collections.synchronizedList(new ArrayList<>());

  public static void main(String[] arguments) {
    int tasks = Integer.parseInt(arguments[0]);
    long darts = Long.parseLong(arguments[1]) * 1_000_000;
    int megabytes = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 0;
    long pause = arguments.length > 3 ? Long.parseLong(arguments[3]) * 1000 : 0;
    List<Integer> seeds = IntStream.rangeClosed(1, tasks).boxed().collect(Collectors.toList());
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("pi"))) {
      long hits = spark.parallelize(seeds, tasks).map(seed -> {
        keep(megabytes);
        Thread.sleep(pause);
        return hits(seed, darts);
      }).reduce(Long::sum);
      System.out.println("Pi is roughly " + 4.0 * hits / (tasks * darts));
    }
  }

  private static long hits(long seed, long darts) {
    long hits = 0;
    long random = seed * 0x9E3779B97F4A7C15L;
    for (long dart = 0; dart < darts; dart++) {
      random ^= random << 13;  // xorshift64
      random ^= random >>> 7;
      random ^= random << 17;
      double x = (random & 0xFFFFFFFFL) * 0x1p-32;
      double y = (random >>> 32) * 0x1p-32;
      if (x * x + y * y < 1) {
        hits++;
      }
    }
    return hits;
  }

  private static void keep(int megabytes) {
    for (int i = 0; i < megabytes; i++) {
      ByteBuffer memory = ByteBuffer.allocateDirect(1 << 20);
      while (memory.hasRemaining()) {
        memory.put((byte) 1);  // a page counts from its first write on
      }
      KEPT.add(memory);
    }
  }
}
