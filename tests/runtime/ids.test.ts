import { expect, test } from 'vitest';
import { newId, timeOfId } from '../../events/envelope.js';
import { atEngineTime, installEngineClock, systemTime } from '../../subgraphs/identity/ports/clock.js';

test('ids come in the order in which they are made, also within one millisecond', () => {
  const ids = Array.from({ length: 20_000 }, () => newId());
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
});

test('an id that is made at a moved clock bears the time of the system, and drags none along', () => {
  installEngineClock();
  const before = systemTime();
  const ids = [atEngineTime(new Date('2040-01-01'), newId), newId()];
  for (const id of ids) expect(timeOfId(id)).toBeGreaterThanOrEqual(before);
  for (const id of ids) expect(timeOfId(id)).toBeLessThanOrEqual(systemTime());
});
