/*
 * Numbers of an allocator, reserved in blocks and then given from memory.
 *
 * Usage: JDBC_URL=... java -cp postgresql.jar BlockGenerator.java ALLOCATOR SIZE THREADS COUNT
 *
 * prints COUNT numbers for each of THREADS threads, as THREAD<TAB>NUMBER, from
 * blocks of SIZE.
 */

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Threads can share it. */
public final class BlockGenerator {
  private final DataSource source;
  private final String allocator;
  private final long size;
  private long next = 0;
  private long last = -1;

  /**
   * A connection is taken from the source for each block, and used in a transaction of its own: a
   * block belongs to nobody whose transaction may be rolled back.
   */
  public BlockGenerator(DataSource source, String allocator, long size) {
    this.source = source;
    this.allocator = allocator;
    this.size = size;
  }

  public synchronized long next() throws SQLException {
    if (next > last) {
      reserve();
    }
    return next++;
  }

  private void reserve() throws SQLException {
    String query = "SELECT first_value, last_value FROM spanner.reserve_block(?, ?)";
    try (Connection connection = source.getConnection();
        PreparedStatement statement = connection.prepareStatement(query)) {
      connection.setAutoCommit(true);
      statement.setString(1, allocator);
      statement.setLong(2, size);
      try (ResultSet block = statement.executeQuery()) {
        block.next();
        next = block.getLong(1);
        last = block.getLong(2);
      }
    }
  }

  public static void main(String[] args) throws Exception {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(System.getenv("JDBC_URL"));
    BlockGenerator numbers = new BlockGenerator(source, args[0], Long.parseLong(args[1]));
    int count = Integer.parseInt(args[3]);
    Thread[] threads = new Thread[Integer.parseInt(args[2])];
    long[][] drawn = new long[threads.length][count];

    for (int i = 0; i < threads.length; i++) {
      long[] mine = drawn[i];
      threads[i] =
          new Thread(
              () -> {
                try {
                  for (int j = 0; j < count; j++) {
                    mine[j] = numbers.next();
                  }
                } catch (SQLException error) {
                  throw new IllegalStateException(error);
                }
              });
      threads[i].start();
    }
    StringBuilder output = new StringBuilder();
    for (int i = 0; i < threads.length; i++) {
      threads[i].join();
      for (long number : drawn[i]) {
        output.append(i).append('\t').append(number).append('\n');
      }
    }
    System.out.print(output);
  }
}
