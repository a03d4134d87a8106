// Numbers of an allocator, reserved in blocks and then given from memory.
//
// Usage: go run block_generator.go ALLOCATOR SIZE THREADS COUNT
//
// prints COUNT numbers for each of THREADS goroutines, as THREAD<TAB>NUMBER,
// from blocks of SIZE.  The server is that of libpq's environment variables.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"strconv"
	"sync"

	_ "github.com/lib/pq"
)

// BlockGenerator gives numbers to any goroutine.
type BlockGenerator struct {
	db         *sql.DB
	allocator  string
	size       int64
	mutex      sync.Mutex
	next, last int64
}

// NewBlockGenerator takes a connection from the database for each block.
func NewBlockGenerator(db *sql.DB, allocator string, size int64) *BlockGenerator {
	return &BlockGenerator{db: db, allocator: allocator, size: size, last: -1}
}

// Next reserves a block, in a transaction of its own, if there is no number
// left: a block belongs to nobody whose transaction may be rolled back.
func (g *BlockGenerator) Next(ctx context.Context) (int64, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.next > g.last {
		var first, last int64

		row := g.db.QueryRowContext(ctx,
			"SELECT first_value, last_value FROM spanner.reserve_block($1, $2)",
			g.allocator, g.size)
		if err := row.Scan(&first, &last); err != nil {
			return 0, err
		}
		g.next, g.last = first, last
	}
	g.next++
	return g.next - 1, nil
}

func number(argument string) int {
	n, err := strconv.Atoi(argument)
	if err != nil {
		log.Fatal(err)
	}
	return n
}

func main() {
	threads, count := number(os.Args[3]), number(os.Args[4])
	drawn := make([][]int64, threads)
	var group sync.WaitGroup

	db, err := sql.Open("postgres", "sslmode=disable")
	if err != nil {
		log.Fatal(err)
	}
	numbers := NewBlockGenerator(db, os.Args[1], int64(number(os.Args[2])))
	group.Add(threads)
	for thread := range drawn {
		go func(thread int) {
			defer group.Done()
			for i := 0; i < count; i++ {
				n, err := numbers.Next(context.Background())
				if err != nil {
					log.Fatal(err)
				}
				drawn[thread] = append(drawn[thread], n)
			}
		}(thread)
	}
	group.Wait()

	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	for thread, mine := range drawn {
		for _, n := range mine {
			fmt.Fprintf(output, "%d\t%d\n", thread, n)
		}
	}
}
