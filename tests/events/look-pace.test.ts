import { expect, test } from 'vitest';
import { LookPace } from '../../events/look-pace.js';

/** Waits before looks that are asked for every `everyMs`, each as soon as it may be. */
function waits(everyMs: number, looks: number): number[] {
  const pace = new LookPace(10, 50);
  let now = 1_000;
  return Array.from({ length: looks }, () => {
    const wait = pace.wait(now);
    now += wait;
    pace.looked(now);
    now += everyMs;
    return wait;
  });
}

test('the first look does not wait, nor does one after a pause', () => {
  expect(waits(200, 50)).toEqual(Array.from({ length: 50 }, () => 0));
});

test('a few looks follow each other quickly, and in a stream each waits for the longer pause', () => {
  const all = waits(0, 40);
  expect(all.slice(0, 9)).toEqual([0, 10, 10, 10, 10, 10, 10, 10, 10]);
  expect(all.slice(12).every(wait => wait === 50)).toBe(true);
});

test('who looks no more often than the longer pause allows is never kept waiting', () => {
  expect(waits(50, 100).every(wait => wait === 0)).toBe(true);
});

test('soon after a stream has ended looks are quick again, however many there were, and what is there is fetched at once', () => {
  const pace = new LookPace(10, 50);
  for (let now = 0; now < 2_000; now += 10) pace.looked(now);
  expect([pace.wait(1_990), pace.wait(1_990, true)]).toEqual([50, 10]);
  pace.looked(2_150);
  expect(pace.wait(2_150)).toBe(10);
});
