/* libpqxx: prepared statements with RETURNING, and COPY. */

#include <iostream>
#include <pqxx/pqxx>

static void
print_objects(const pqxx::result &objects)
{
	for (const auto &row : objects)
		std::cout << row[0].as<int64_t>() << "\t" << row[1].c_str() << "\n";
}

int
main()
{
	{
		pqxx::connection connection;
		pqxx::work	work(connection);

		work.exec("CREATE TABLE author (id bigserial PRIMARY KEY, name text UNIQUE)");
		work.commit();
	}

	pqxx::connection connection;
	pqxx::work	work(connection);

	connection.prepare("insert", "INSERT INTO author (name) VALUES ($1) RETURNING id, name");
	std::cout << "= author libpqxx " << PQXX_VERSION << " (bigserial; RETURNING, COPY)\n";
	print_objects(work.exec_prepared("insert", "one"));
	for (int i = 0; i < 5; i++)
		print_objects(work.exec_prepared("insert", "many " + std::to_string(i)));

	pqxx::stream_to copy(work, "author", std::vector<std::string>{"name"});

	for (int i = 5; i < 10; i++)
		copy << std::make_tuple("many " + std::to_string(i));
	copy.complete();
	print_objects(work.exec("SELECT id, name FROM author WHERE name BETWEEN 'many 5' AND 'many 9'"));
	work.commit();
}
