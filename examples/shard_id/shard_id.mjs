#!/usr/bin/env node
/*
 * The shard ids of spanner.shard_id(), computed without a server.
 *
 * Usage: shard_id.mjs SHARDS KEY...    prints the id; \N is NULL
 *        shard_id.mjs < FILE           the same for lines of SHARDS<TAB>KEY<TAB>KEY...
 *
 * A key is the canonical text of a value, or a Uint8Array, which is hashed as it is.
 */

import { readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const K0 = 0xc3a5c85c97cb3127n;
const K1 = 0xb492b66fbe98f273n;
const K2 = 0x9ae16a3b2f90404fn;
const NULL_KEY = Buffer.from('-');

export function shardId(shards, ...keys) {
  if (!(shards >= 1) || keys.length === 0) {
    throw new RangeError('a shard id needs at least one shard and one key');
  }
  const data = keys.map((key) => (key == null ? null : Buffer.from(key)));
  const text = data.length === 1 ? (data[0] ?? NULL_KEY) : Buffer.concat(data.map(netstring));
  return Math.abs(Number(BigInt.asIntN(64, fingerprint64(text)) % BigInt(shards)));
}

function netstring(key) {
  return key === null ? NULL_KEY : Buffer.concat([Buffer.from(`${key.length}:`), key]);
}

/* FarmHash's Fingerprint64 of a Uint8Array, as an unsigned BigInt. */
export function fingerprint64(bytes) {
  const s = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const n = s.length;
  const mul = K2 + BigInt(2 * n);

  if (n > 64) {
    return fingerprintLong(s);
  }
  if (n > 16) {
    const a = word(s, 0) * (n > 32 ? K2 : K1);
    const b = word(s, 8);
    const c = word(s, n - 8) * mul;
    const y = rotate(a + b, 43n) + rotate(c, 30n) + word(s, n - 16) * K2;
    const z = mix(y, a + rotate(b + K2, 18n) + c, mul);
    if (n <= 32) {
      return z;
    }
    const e = word(s, 16) * mul;
    const f = word(s, 24);
    const g = (y + word(s, n - 32)) * mul;
    const h = (z + word(s, n - 24)) * mul;
    return mix(rotate(e + f, 43n) + rotate(g, 30n) + h, e + rotate(f + a, 18n) + g, mul);
  }
  if (n >= 8) {
    const a = word(s, 0) + K2;
    const b = word(s, n - 8);
    return mix(rotate(b, 37n) * mul + a, (rotate(a, 25n) + b) * mul, mul);
  }
  if (n >= 4) {
    return mix(BigInt(n + s.readUInt32LE(0) * 8), BigInt(s.readUInt32LE(n - 4)), mul);
  }
  if (n >= 1) {
    const y = BigInt(s[0] + s[n >> 1] * 256);
    const z = BigInt(n + s[n - 1] * 4);
    return mask(fold((y * K2) ^ (z * K0)) * K2);
  }
  return K2;
}

function fingerprintLong(s) {
  const last = s.length - 64;
  let [x, y] = [81n * K2 + word(s, 0), 81n * K1 + 113n];
  let z = fold(y * K2 + 113n) * K2;
  let [v1, v2, w1, w2] = [0n, 0n, 0n, 0n];
  let [mul, weight] = [K1, 1n];

  /* Blocks of 64 bytes, and the last 64 bytes once more in another way. */
  for (let i = 0; i < last + 64; i += 64) {
    if (i >= last) {
      i = last;
      [mul, weight] = [K1 + 2n * (z & 0xffn), 9n];
      w1 += BigInt((s.length - 1) % 64);
      v1 += w1;
      w1 += v1;
    }
    x = (rotate(x + y + v1 + word(s, i + 8), 37n) * mul) ^ (w2 * weight);
    y = rotate(y + v2 + word(s, i + 48), 42n) * mul + v1 * weight + word(s, i + 40);
    z = rotate(z + w1, 33n) * mul;
    [v1, v2] = mixBlock(s, i, v2 * mul, x + w1);
    [w1, w2] = mixBlock(s, i + 32, z + w2, y + word(s, i + 16));
    [x, z] = [z, x];
  }
  return mix(mix(v1, w1, mul) + fold(y) * K0 + z, mix(v2, w2, mul) + x, mul);
}

function mixBlock(s, i, start, b) {
  const a = start + word(s, i);
  const c = a + word(s, i + 8) + word(s, i + 16);
  return [
    mask(c + word(s, i + 24)),
    mask(rotate(a + b + word(s, i + 24), 21n) + rotate(c, 44n) + a),
  ];
}

function mix(u, v, mul) {
  return mask(fold((v ^ fold((u ^ v) * mul)) * mul) * mul);
}

function fold(value) {
  const v = mask(value);
  return v ^ (v >> 47n);
}

function rotate(value, bits) {
  const v = mask(value);
  return mask((v >> bits) | (v << (64n - bits)));
}

function mask(value) {
  return BigInt.asUintN(64, value);
}

function word(s, i) {
  return s.readBigUInt64LE(i);
}

function main(args) {
  const lines = args.length > 0 ? [args] : readLines();
  for (const [shards, ...keys] of lines) {
    console.log(shardId(Number(shards), ...keys.map((key) => (key === '\\N' ? null : key))));
  }
}

function readLines() {
  const text = readFileSync(0, 'utf8').replace(/\n$/, '');
  return text === '' ? [] : text.split('\n').map((line) => line.split('\t'));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    main(process.argv.slice(2));
  } catch (error) {
    console.error(`shard_id.mjs: ${error.message}`);
    process.exitCode = 1;
  }
}
