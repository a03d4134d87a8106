/* Hibernate and EclipseLink through JPA: entities, schema generation, persist(). */

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.persistence.Column;
import javax.persistence.Entity;
import javax.persistence.EntityManager;
import javax.persistence.GeneratedValue;
import javax.persistence.GenerationType;
import javax.persistence.Id;
import javax.persistence.PersistenceException;
import javax.persistence.SequenceGenerator;
import javax.persistence.spi.PersistenceProvider;

public class UseJpa {
	public interface Named {
		Long getId();
		void setName(String name);
	}

	@Entity(name = "author")
	public static class Author implements Named {
		@Id @GeneratedValue(strategy = GenerationType.IDENTITY)
		Long id;
		@Column(unique = true)
		String name;

		public Long getId() { return id; }
		public void setName(String name) { this.name = name; }
	}

	/* Each id comes from the sequence. */
	@Entity(name = "book")
	public static class Book implements Named {
		@Id @GeneratedValue(generator = "book_id")
		@SequenceGenerator(name = "book_id", sequenceName = "book_id", allocationSize = 1)
		Long id;
		@Column(unique = true)
		String name;

		public Long getId() { return id; }
		public void setName(String name) { this.name = name; }
	}

	/* The client makes 50 ids of each value of the sequence. */
	@Entity(name = "city")
	public static class City implements Named {
		@Id @GeneratedValue(generator = "city_id")
		@SequenceGenerator(name = "city_id", sequenceName = "city_id")
		Long id;
		@Column(unique = true)
		String name;

		public Long getId() { return id; }
		public void setName(String name) { this.name = name; }
	}

	static EntityManager connect(PersistenceProvider provider, String... ddl) {
		Map<String, String> settings = new HashMap<>();

		settings.put("javax.persistence.jdbc.url", System.getenv("JDBC_URL"));
		settings.put("javax.persistence.jdbc.driver", "org.postgresql.Driver");
		settings.put("hibernate.id.new_generator_mappings", "true");
		settings.put("eclipselink.logging.level", "OFF");
		for (int i = 0; i < ddl.length; i += 2)
			settings.put(ddl[i], ddl[i + 1]);
		return provider.createEntityManagerFactory("library", settings).createEntityManager();
	}

	static Named make(Class<? extends Named> type, String name) throws Exception {
		Named object = type.getDeclaredConstructor().newInstance();

		object.setName(name);
		return object;
	}

	/* One object and ten more, on a new connection. */
	static void store(PersistenceProvider provider, Class<? extends Named> type, String mark, String how)
			throws Exception {
		EntityManager manager = connect(provider);
		Map<String, Named> objects = new LinkedHashMap<>();

		manager.getTransaction().begin();
		for (int i = -1; i < 10; i++) {
			String name = i < 0 ? "one" : "many " + i;
			Named object = make(type, name);

			objects.put(name, object);
			manager.persist(object);
			if (i < 0) {
				manager.getTransaction().commit();
				manager.getTransaction().begin();
			}
		}
		manager.getTransaction().commit();
		manager.getEntityManagerFactory().close();

		System.out.printf("=%s %s %s\n", mark, type.getSimpleName(), how);
		objects.forEach((name, object) -> System.out.println(object.getId() + "\t" + name));
	}

	/* Are blocks of ids disjoint?  Nothing of this is kept. */
	static void storeBlocks(PersistenceProvider provider) throws Exception {
		EntityManager manager = connect(provider);

		manager.getTransaction().begin();
		try {
			for (int i = 0; i < 2000; i++)
				manager.persist(make(City.class, "block " + i));
			manager.flush();
		} catch (PersistenceException e) {
			System.out.println("!duplicate ids");
		}
		manager.getTransaction().rollback();
		manager.getEntityManagerFactory().close();
	}

	public static void main(String[] args) throws Exception {
		PersistenceProvider provider =
			(PersistenceProvider) Class.forName(args[0]).getDeclaredConstructor().newInstance();
		boolean hibernate = args[0].contains("hibernate");
		String client = (hibernate ? "Hibernate " : "EclipseLink ") + System.getenv("CLIENT_VERSION");

		connect(provider, "hibernate.hbm2ddl.auto", "create", "eclipselink.ddl-generation", "create-tables")
			.getEntityManagerFactory().close();
		store(provider, Author.class, "",
			client + (hibernate ? " (IDENTITY: bigserial; currval)" : " (IDENTITY: serial; lastval)"));
		store(provider, Book.class, "", client + " (SEQUENCE, allocationSize=1; nextval)");
		store(provider, City.class, "known", client + " (SEQUENCE, allocationSize=50; nextval)");
		storeBlocks(provider);
	}
}
