import { createHash } from 'node:crypto';

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A number from 0 to 1 that depends on the words alone, not on when it is asked for. */
export const fixed = (...words: (string | number)[]): number =>
  createHash('sha256').update(words.join(' ')).digest().readUInt32BE() / 2 ** 32;

export const pick = <T>(next: () => number, all: readonly T[]): T => all[Math.floor(next() * all.length)]!;

export function shuffled<T>(next: () => number, all: readonly T[]): T[] {
  const left = [...all];
  return all.map(() => left.splice(Math.floor(next() * left.length), 1)[0]!);
}

/** A UUID that is the same for the same seed. */
export function uuidOf(next: () => number): string {
  const hex = (digits: number): string => Array.from({ length: digits }, () => Math.floor(next() * 16).toString(16)).join('');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
}
