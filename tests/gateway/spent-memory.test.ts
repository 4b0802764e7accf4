import v8 from 'node:v8';
import { afterEach, expect, test, vi } from 'vitest';
import { giveBackSpentMemory } from '../../gateway/composition/spent-memory.js';
import { until } from '../support/until.js';

afterEach(() => vi.restoreAllMocks());

/** What a weak reference was made of, or looked at, stays until the end of the turn. */
const turn = () => new Promise(resolve => setImmediate(resolve));

/** Keeps the process busy for so many ms. */
function spin(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('a process that nobody calls gives back what its start left behind at once', async () => {
  const left = Array.from({ length: 3 }, (_, n) => new WeakRef({ n }));
  await turn();
  giveBackSpentMemory(false);
  expect(left.map(ref => ref.deref())).toEqual([undefined, undefined, undefined]);
});

test('one that people call does when it is first at rest, not while it is busy, and once', async () => {
  const exposed = vi.spyOn(v8, 'setFlagsFromString');
  const [busy, lookMs] = [setInterval(spin, 10, 8), 20];
  giveBackSpentMemory(true, lookMs);
  for (const end = performance.now() + 10 * lookMs; performance.now() < end; await turn()) expect(exposed).not.toHaveBeenCalled();
  clearInterval(busy);
  const times = async () => exposed.mock.calls.filter(([flag]) => flag === '--expose-gc').length;
  await until('it to be given back', times, n => n > 0);
  expect(await times()).toBe(1);
});
