import { expect, test } from 'vitest';
import type { Role } from '../../runtime/config.js';
import { Pace, paceOf, type Times } from '../../subgraphs/webhooks/workers/pace.js';

/** A loop with so much to do for each batch, for so many batches; answers what it was busy and idle in all, ms. */
function run(busyMs: number, batches: number): Times {
  const total = { active: 0, idle: 0 };
  const pace = new Pace(0.3, () => ({ ...total }));
  for (let batch = 0; batch < batches; batch++) {
    total.active += busyMs;
    total.idle += pace.pauseMs();
  }
  return total;
}

test('deliveries keep the process busy for three tenths of the time and leave it the rest', () => {
  for (const busyMs of [1, 5, 20]) {
    const { active, idle } = run(busyMs, 200);
    expect(active / (active + idle)).toBeCloseTo(0.3, 2);
  }
});

test('a process that others keep busy still delivers, a batch every 50 ms', () => {
  expect(run(1_000, 100).idle).toBe(100 * 50);
});

test('a process with time to spare makes no pause, and what it did not use it cannot use later', () => {
  const total = { active: 0, idle: 0 };
  const pace = new Pace(0.3, () => ({ ...total }));
  Object.assign(total, { active: 3, idle: 10_000 });
  expect(pace.pauseMs()).toBe(0);
  Object.assign(total, { active: 6, idle: 10_000 });
  expect(pace.pauseMs()).toBeCloseTo(7, 6);
});

test('a process that answers no requests delivers without a pause, one that answers some does not', () => {
  const busy = (...roles: Role[]): number => {
    const pace = paceOf(new Set(roles));
    const end = performance.now() + 20;
    while (performance.now() < end); // work of the loop
    return pace.pauseMs();
  };
  expect(busy('relay', 'consumers', 'scheduler')).toBe(0);
  expect(busy('consumers', 'subgraphs')).toBeGreaterThan(10);
});
