import { expect, test } from 'vitest';
import { Turns } from '../../runtime/request/turns.js';

/** Work that ends when it is told. */
function held() {
  let end = (): void => undefined;
  const ended = new Promise<void>(resolve => (end = resolve));
  return { work: () => ended, end };
}

test('never more at once than allowed, also when somebody comes as a place is handed on', async () => {
  const turns = new Turns(2, 10, () => new Error('full'));
  let running = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
  };
  const first = Array.from({ length: 6 }, () => turns.run(work));
  await first[0];
  await Promise.all([...first, turns.run(work), turns.run(work)]);
  expect(most).toBe(2);
});

test('who finds the queue full is told at once, and a place that fails is free again', async () => {
  const turns = new Turns(1, 1, () => new Error('full'));
  const one = held();
  const [running, waiting] = [turns.run(one.work), turns.run(() => Promise.reject(new Error('broken')))];
  await expect(turns.run(async () => 'never')).rejects.toThrow('full');
  one.end();
  await running;
  await expect(waiting).rejects.toThrow('broken');
  expect(await turns.run(async () => 'free')).toBe('free');
});
