<?php
// Doctrine: SchemaTool makes, widens and renames, and compares with the database.

require 'Doctrine/ORM/autoload.php';
require 'Symfony/Component/Cache/autoload.php';

use Doctrine\DBAL\DriverManager;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Mapping as ORM;
use Doctrine\ORM\ORMSetup;
use Doctrine\ORM\Tools\SchemaTool;

error_reporting(E_ALL & ~E_DEPRECATED);

#[ORM\Entity]
class Author
{
	#[ORM\Id, ORM\Column, ORM\GeneratedValue(strategy: 'IDENTITY')]
	public ?int $id = null;

	#[ORM\Column(name: 'title', unique: true)]
	public string $name;
}

#[ORM\Entity]
class Writer
{
	#[ORM\Id, ORM\Column(type: 'bigint'), ORM\GeneratedValue(strategy: 'IDENTITY')]
	public int|string|null $id = null;

	#[ORM\Column(unique: true)]
	public string $name;
}

#[ORM\Entity]
class Book
{
	#[ORM\Id, ORM\Column(type: 'bigint'), ORM\GeneratedValue(strategy: 'SEQUENCE')]
	public int|string|null $id = null;

	#[ORM\Column(unique: true)]
	public string $name;
}

function connect(string $suffix = ''): EntityManager
{
	$config = ORMSetup::createAttributeMetadataConfiguration([], true);
	$connection = DriverManager::getConnection(['driver' => 'pdo_pgsql', 'host' => getenv('PGHOST'),
		'port' => getenv('PGPORT'), 'user' => getenv('PGUSER'), 'dbname' => getenv('PGDATABASE') . $suffix], $config);
	return new EntityManager($connection, $config);
}

function store(EntityManager $manager, string $class, int $first, int $last): array
{
	$objects = [];
	foreach (range($first, $last) as $i)
	{
		$objects[] = $object = new $class();
		$object->name = "name $i";
		$manager->persist($object);
	}
	$manager->flush();
	return $objects;
}

function title(string $mark, string $table, string $how): void
{
	echo "=$mark $table Doctrine ", Doctrine\ORM\Version::VERSION, " ($how)\n";
}

function report(string $table, string $how, array $objects): void
{
	title('', $table, $how);
	foreach ($objects as $object)
		echo "$object->id\t$object->name\n";
}

// What SchemaTool would do to make the tables of the classes what they should be.
function differences(EntityManager $manager, array $classes): array
{
	$metadata = array_map(fn ($class) => $manager->getClassMetadata($class), $classes);
	return array_filter((new SchemaTool($manager))->getUpdateSchemaSql($metadata, true),
		fn ($sql) => !preg_match('/^(DROP|CREATE SCHEMA)/', $sql));
}

// What it proposes for an identity column is refused, and nothing is lost by that.
function update(EntityManager $manager, array $classes): void
{
	foreach (differences($manager, $classes) as $sql)
	{
		try
		{
			$manager->getConnection()->executeStatement($sql);
		}
		catch (Doctrine\DBAL\Exception $e)
		{
			if (!str_contains($e->getMessage(), 'identity column'))
				throw $e;
		}
	}
}

$old = str_starts_with(Doctrine\ORM\Version::VERSION, '2');
$ddl = $old ? 'serial' : 'identity';
update(connect(), [Author::class]);
$authors = store(connect(), Author::class, 10, 15);
foreach (['TABLE author RENAME TO writer', 'TABLE writer RENAME COLUMN title TO name',
	'SEQUENCE author_id_seq RENAME TO writer_id_seq'] as $sql)
	connect()->getConnection()->executeStatement("ALTER $sql");
update(connect(), [Writer::class, Book::class]);
foreach (['writer' => "pg_get_serial_sequence('writer', 'id')", 'book' => "'book_id_seq'"] as $table => $sequence)
	connect()->getConnection()->executeStatement(
		"SELECT setval($sequence, max(id)) FROM $table");
$authors = array_merge($authors, store(connect(), Writer::class, 0, 4));
report('writer', "$ddl widened; setval", $authors);
report('book', 'SEQUENCE; setval', store(connect(), Book::class, 0, 10));

foreach ([$ddl => Writer::class, 'SEQUENCE' => Book::class] as $how => $class)
{
	title($how === 'identity' ? 'known' : '', '-', "SchemaTool's differences, $how");
	echo '!', implode('; ', differences(connect(), [$class])) ?: 'no difference', "\n";
}

update(connect('_loaded'), [Writer::class]);
report('writer@loaded', "$ddl in an empty database", store(connect('_loaded'), Writer::class, 0, 10));
