/*-------------------------------------------------------------------------
 *
 * functions.cc
 *	  CPU time of our fingerprint and of libfarmhash's, and of a bit reversal.
 *
 * usage: functions [rounds]
 *
 * Prints results, in interleaved rounds.  Each call depends on the one before,
 * so that it is the latency that counts.
 *
 * test/bench/functions.cc
 *
 *-------------------------------------------------------------------------
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <farmhash.h>

#include "keys/bit_reverse.h"

extern "C" uint64_t sk_farm_fingerprint64(const void *data, size_t len);

static const size_t Lengths[] = {8, 16, 32, 64, 256, 1024};
static const long Bytes = 100 * 1000 * 1000;
static const long MostCalls = 3 * 1000 * 1000;

static volatile uint64_t sink;

static double
cpu_ns()
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec * 1e9 + (double) now.tv_nsec;
}

template<typename Function>
static double
ns_per_call(Function function, size_t length, long calls)
{
	std::vector<char> buffer(length + 64, 'x');
	uint64_t	last = 0;
	double		start = cpu_ns();

	for (long i = 0; i < calls; i++)
	{
		/* neither the place nor the bytes are known beforehand */
		buffer[last & 7] = (char) i;
		last = function(buffer.data() + (last & 7), length);
	}
	sink = last;
	return (cpu_ns() - start) / (double) calls;
}

int
main(int argc, char **argv)
{
	int			rounds = argc > 1 ? atoi(argv[1]) : 5;

	for (int round = 0; round < rounds; round++)
	{
		for (size_t length : Lengths)
		{
			long		calls = Bytes / (long) length < MostCalls ? Bytes / (long) length : MostCalls;
			double		ours = ns_per_call([](const char *data, size_t size)
										   { return sk_farm_fingerprint64(data, size); }, length, calls);
			double		theirs = ns_per_call([](const char *data, size_t size)
											 { return util::Fingerprint64(data, size); }, length, calls);

			printf("C, farmhash.c\t%zu bytes\tCPU time\t%.2f\tns\n", length, ours);
			printf("C, libfarmhash\t%zu bytes\tCPU time\t%.2f\tns\n", length, theirs);
		}
		printf("C, bit reversal\t8 bytes\tCPU time\t%.2f\tns\n",
			   ns_per_call([](const char *data, size_t)
						   { return (uint64_t) sk_bit_reverse(*(const int64_t *) data, true); }, 8, MostCalls));
	}
	return 0;
}
