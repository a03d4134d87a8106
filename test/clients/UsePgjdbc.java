/* pgjdbc: generated keys of one statement and of a batch. */

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import org.postgresql.util.DriverInfo;

public class UsePgjdbc {
	static void printKeys(PreparedStatement insert, String... names) throws Exception {
		ResultSet keys = insert.getGeneratedKeys();

		for (int i = 0; keys.next(); i++)
			System.out.println(keys.getLong("id") + "\t" + names[i]);
	}

	public static void main(String[] args) throws Exception {
		String url = System.getenv("JDBC_URL") + "&reWriteBatchedInserts=true";
		String[] names = new String[10];

		try (Connection connection = DriverManager.getConnection(url)) {
			connection.createStatement().execute("CREATE TABLE author (id bigserial PRIMARY KEY, name text UNIQUE)");
		}

		try (Connection connection = DriverManager.getConnection(url);
				PreparedStatement insert = connection.prepareStatement(
					"INSERT INTO author (name) VALUES (?)", new String[] {"id"})) {
			System.out.println("= author pgjdbc " + DriverInfo.DRIVER_VERSION + " (bigserial; RETURNING, batch)");
			insert.setString(1, "one");
			insert.executeUpdate();
			printKeys(insert, "one");
			for (int i = 0; i < 10; i++) {
				names[i] = "many " + i;
				insert.setString(1, names[i]);
				insert.addBatch();
			}
			insert.executeBatch();
			printKeys(insert, names);
		}
	}
}
