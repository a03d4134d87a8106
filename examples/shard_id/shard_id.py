#!/usr/bin/env python3
"""The shard ids of spanner.shard_id(), computed without a server.

Usage: shard_id.py SHARDS KEY...  prints the id; \\N is NULL
       shard_id.py < FILE         the same for lines of SHARDS<TAB>KEY<TAB>KEY...

A key is the canonical text of a value, or bytes, which are hashed as they are.
"""

import os
import sys

MASK = 2**64 - 1
K0 = 0xC3A5C85C97CB3127
K1 = 0xB492B66FBE98F273
K2 = 0x9AE16A3B2F90404F


def shard_id(shards, *keys):
    if shards < 1 or not keys:
        raise ValueError("a shard id needs at least one shard and one key")
    data = [key.encode() if isinstance(key, str) else key for key in keys]
    if len(data) > 1:
        data = [None if key is None else b"%d:%b" % (len(key), key) for key in data]
    value = fingerprint64(b"".join(b"-" if key is None else key for key in data))
    # SQL's abs(mod()) of the signed value; Python's % is another remainder.
    return abs(value - 2**64 if value >> 63 else value) % shards


def fingerprint64(s):
    """FarmHash's Fingerprint64 of bytes, as an unsigned number."""
    n = len(s)
    mul = K2 + 2 * n
    if n > 64:
        return fingerprint_long(s)
    if n > 16:
        a = word(s, 0) * (K2 if n > 32 else K1)
        b = word(s, 8)
        c = word(s, n - 8) * mul
        y = rotate(a + b, 43) + rotate(c, 30) + word(s, n - 16) * K2
        z = mix(y, a + rotate(b + K2, 18) + c, mul)
        if n <= 32:
            return z
        e = word(s, 16) * mul
        f = word(s, 24)
        g = (y + word(s, n - 32)) * mul
        h = (z + word(s, n - 24)) * mul
        y = rotate(e + f, 43) + rotate(g, 30) + h
        return mix(y, e + rotate(f + a, 18) + g, mul)
    if n >= 8:
        a = word(s, 0) + K2
        b = word(s, n - 8)
        return mix(rotate(b, 37) * mul + a, (rotate(a, 25) + b) * mul, mul)
    if n >= 4:
        return mix(n + (word(s, 0, 4) << 3), word(s, n - 4, 4), mul)
    if n >= 1:
        y = s[0] + (s[n >> 1] << 8)
        z = n + (s[-1] << 2)
        return fold(y * K2 ^ z * K0) * K2 & MASK
    return K2


def fingerprint_long(s):
    last = len(s) - 64
    x, y = 81 * K2 + word(s, 0), 81 * K1 + 113
    z = fold(y * K2 + 113) * K2
    v1 = v2 = w1 = w2 = 0
    mul, weight = K1, 1
    # Blocks of 64 bytes, and the last 64 bytes once more in another way.
    for i in [*range(0, last, 64), last]:
        if i == last:
            mul, weight = K1 + 2 * (z & 0xFF), 9
            w1 += (len(s) - 1) & 63
            v1 += w1
            w1 += v1
        x = rotate(x + y + v1 + word(s, i + 8), 37) * mul ^ w2 * weight
        y = rotate(y + v2 + word(s, i + 48), 42) * mul + v1 * weight + word(s, i + 40)
        z = rotate(z + w1, 33) * mul
        v1, v2 = mix_block(s, i, v2 * mul, x + w1)
        w1, w2 = mix_block(s, i + 32, z + w2, y + word(s, i + 16))
        x, z = z, x
    return mix(mix(v1, w1, mul) + fold(y) * K0 + z, mix(v2, w2, mul) + x, mul)


def mix_block(s, i, a, b):
    a += word(s, i)
    b = rotate(a + b + word(s, i + 24), 21)
    c = a + word(s, i + 8) + word(s, i + 16)
    return c + word(s, i + 24) & MASK, b + rotate(c, 44) + a & MASK


def mix(u, v, mul):
    return fold((v ^ fold((u ^ v) * mul)) * mul) * mul & MASK


def fold(value):
    value &= MASK
    return value ^ value >> 47


def rotate(value, bits):
    value &= MASK
    return (value >> bits | value << (64 - bits)) & MASK


def word(s, i, size=8):
    return int.from_bytes(s[i : i + size], "little")


def main():
    if len(sys.argv) > 1:
        lines = [[os.fsencode(arg) for arg in sys.argv[1:]]]
    else:
        lines = (line.rstrip(b"\n").split(b"\t") for line in sys.stdin.buffer)
    for shards, *keys in lines:
        print(shard_id(int(shards), *(None if key == b"\\N" else key for key in keys)))


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        sys.exit(f"shard_id.py: {error}")
