/*
 * The shard ids of spanner.shard_id(), computed with Guava.
 *
 * Usage: java -cp guava.jar ShardId.java SHARDS KEY...    prints the id; \N is NULL
 *        java -cp guava.jar ShardId.java < FILE           the same for lines of
 *                                                         SHARDS<TAB>KEY<TAB>KEY...
 *
 * A key is the canonical text of a value. Bytes go into the hasher with putBytes().
 */

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import java.util.Arrays;
import java.util.Scanner;

public final class ShardId {
  private ShardId() {}

  public static int shardId(int shards, String... keys) {
    if (shards < 1 || keys.length == 0) {
      throw new IllegalArgumentException("a shard id needs at least one shard and one key");
    }
    Hasher hasher = Hashing.farmHashFingerprint64().newHasher();
    for (String key : keys) {
      if (key == null) {
        hasher.putString("-", UTF_8);
        continue;
      }
      if (keys.length > 1) {
        hasher.putString(key.getBytes(UTF_8).length + ":", UTF_8);
      }
      hasher.putString(key, UTF_8);
    }
    return (int) Math.abs(hasher.hash().asLong() % shards);
  }

  private static void print(String... fields) {
    String[] keys = Arrays.copyOfRange(fields, 1, fields.length);
    keys = Arrays.stream(keys).map(key -> key.equals("\\N") ? null : key).toArray(String[]::new);
    System.out.println(shardId(Integer.parseInt(fields[0]), keys));
  }

  public static void main(String[] args) {
    try {
      if (args.length > 0) {
        print(args);
      } else {
        Scanner lines = new Scanner(System.in, UTF_8).useDelimiter("\n");
        lines.forEachRemaining(line -> print(line.split("\t", -1)));
      }
    } catch (IllegalArgumentException e) {
      System.err.println("ShardId: " + e.getMessage());
      System.exit(1);
    }
  }
}
