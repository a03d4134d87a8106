<?php
// Doctrine: entities, SchemaTool, persist() and flush().

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

function connect(): EntityManager
{
	$config = ORMSetup::createAttributeMetadataConfiguration([], true);
	$connection = DriverManager::getConnection(['driver' => 'pdo_pgsql', 'host' => getenv('PGHOST'),
		'port' => getenv('PGPORT'), 'user' => getenv('PGUSER'), 'dbname' => getenv('PGDATABASE')], $config);
	return new EntityManager($connection, $config);
}

function store(EntityManager $manager, string $class, array $names): array
{
	$objects = [];
	foreach ($names as $name)
	{
		$objects[] = $object = new $class();
		$object->name = $name;
		$manager->persist($object);
	}
	$manager->flush();
	return $objects;
}

$manager = connect();
$classes = array_map(fn ($class) => $manager->getClassMetadata($class), [Author::class, Book::class]);
(new SchemaTool($manager))->createSchema($classes);
$version = Doctrine\ORM\Version::VERSION;
$old = str_starts_with($version, '2');

foreach ([Author::class => $old ? 'serial; currval' : 'identity; lastval',
	Book::class => 'SEQUENCE; nextval'] as $class => $how)
{
	$manager = connect();
	$objects = array_merge(store($manager, $class, ['one']),
		store($manager, $class, array_map(fn ($i) => "many $i", range(0, 9))));
	echo "= $class Doctrine $version ($how)\n";
	foreach ($objects as $object)
		echo "$object->id\t$object->name\n";
}
