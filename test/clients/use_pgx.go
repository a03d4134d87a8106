// pgx v4: QueryRow, a batch, and CopyFrom.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/jackc/pgx/v4"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func connect() *pgx.Conn {
	conn, err := pgx.Connect(context.Background(), "")
	check(err)
	return conn
}

func main() {
	ctx := context.Background()
	conn := connect()
	_, err := conn.Exec(ctx, "CREATE TABLE author (id bigserial PRIMARY KEY, name text UNIQUE)")
	check(err)
	conn.Close(ctx)

	conn = connect()
	sql := "INSERT INTO author (name) VALUES ($1) RETURNING id, name"
	var id int64
	var name string
	fmt.Printf("= author pgx %s (bigserial; RETURNING, batch, COPY)\n", os.Getenv("CLIENT_VERSION"))
	check(conn.QueryRow(ctx, sql, "one").Scan(&id, &name))
	fmt.Printf("%d\t%s\n", id, name)

	batch := &pgx.Batch{}
	for i := 0; i < 5; i++ {
		batch.Queue(sql, fmt.Sprintf("many %d", i))
	}
	results := conn.SendBatch(ctx, batch)
	for i := 0; i < 5; i++ {
		check(results.QueryRow().Scan(&id, &name))
		fmt.Printf("%d\tmany %d\n", id, i)
	}
	results.Close()

	var rows [][]interface{}
	for i := 5; i < 10; i++ {
		rows = append(rows, []interface{}{fmt.Sprintf("many %d", i)})
	}
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"author"}, []string{"name"}, pgx.CopyFromRows(rows))
	check(err)
	copied, err := conn.Query(ctx, "SELECT id, name FROM author WHERE name >= 'many 5' AND name < 'one'")
	check(err)
	for copied.Next() {
		check(copied.Scan(&id, &name))
		fmt.Printf("%d\t%s\n", id, name)
	}
}
