/*-------------------------------------------------------------------------
 *
 * compare.cc
 *	  Compares our FarmHash with libfarmhash on random input.
 *
 * usage: compare [seed]
 *
 * test/fuzz/farmhash_compare.cc
 *
 *-------------------------------------------------------------------------
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <farmhash.h>

extern "C" uint64_t sk_farm_fingerprint64(const void *data, size_t len);

static const size_t MaxLength = 2048;
static const long Inputs = 200000;

int
main(int argc, char **argv)
{
	unsigned long seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	std::mt19937_64 random(seed);
	std::vector<char> buffer(MaxLength + 16);

	for (long i = 0; i < Inputs; i++)
	{
		/* every length and alignment in turn, short ones more often */
		size_t		length = i % 2 ? random() % 130 : (i / 2) % (MaxLength + 1);
		size_t		offset = random() % 16;
		unsigned char mask = i % 16 == 0 ? random() & 0xff : 0xff;
		const char *data = buffer.data() + offset;

		for (size_t j = 0; j < length; j++)
			buffer[offset + j] = (char) (random() & mask);

		uint64_t	expected = util::Fingerprint64(data, length);
		uint64_t	found = sk_farm_fingerprint64(data, length);

		if (found != expected)
		{
			printf("not ok farmhash: length %zu, offset %zu, input %ld, seed %lu: expected %016llx, found %016llx\n",
				   length, offset, i, seed,
				   (unsigned long long) expected, (unsigned long long) found);
			return 1;
		}
	}

	printf("ok farmhash: %ld inputs of 0..%zu bytes equal libfarmhash, seed %lu\n",
		   Inputs, MaxLength, seed);
	return 0;
}
