#!/usr/bin/env python3
"""Numbers of an allocator, reserved in blocks and then given from memory.

Usage: block_generator.py ALLOCATOR SIZE THREADS COUNT

prints COUNT numbers for each of THREADS threads, as THREAD<TAB>NUMBER, from
blocks of SIZE.  The server is that of libpq's environment variables.
"""

import contextlib
import sys
import threading


class BlockGenerator:
    """An iterator without an end, which threads can share.

    "connect" makes a connection, or takes one out of a pool.  It is used for
    one block, in a transaction of its own: a block belongs to nobody whose
    transaction may be rolled back.
    """

    def __init__(self, connect, allocator, size=1000):
        self._connect = connect
        self._arguments = (allocator, size)
        self._lock = threading.Lock()
        self._block = iter(())

    def __iter__(self):
        return self

    def __next__(self):
        with self._lock:
            number = next(self._block, None)
            if number is None:
                self._block = self._reserve()
                number = next(self._block)
            return number

    def _reserve(self):
        with contextlib.closing(self._connect()) as connection:
            cursor = connection.cursor()
            cursor.execute(
                "SELECT first_value, last_value FROM spanner.reserve_block(%s, %s)",
                self._arguments,
            )
            first, last = cursor.fetchone()
            connection.commit()
        return iter(range(first, last + 1))


def main(allocator, size, threads, count):
    import psycopg2

    numbers = BlockGenerator(lambda: psycopg2.connect(""), allocator, int(size))
    drawn = [[] for _ in range(int(threads))]

    def draw(mine):
        for _ in range(int(count)):
            mine.append(next(numbers))

    workers = [threading.Thread(target=draw, args=(mine,)) for mine in drawn]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for thread, mine in enumerate(drawn):
        for number in mine:
            print(thread, number, sep="\t")


if __name__ == "__main__":
    main(*sys.argv[1:])
