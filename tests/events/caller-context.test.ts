import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { handle } from '../../events/consumer.js';
import { note, type TestContext } from './support/host.js';
import { dropTemplate, events, kinds, newUser, until, World } from './support/world.js';

/** What holds for one caller, such as identity's manual clock, holds for nobody whom its events or hints reach. Source: event-machinery 3. */
const CONSUMER = 'clinical.first';
const ofCaller = new AsyncLocalStorage<string>();

afterAll(dropTemplate);

describe.each(kinds)('%s transport', kind => {
  let world: World;

  beforeEach(async () => {
    world = await World.open(kind);
  });

  afterEach(() => world.close());

  test('a handler does not run in the context of whoever emitted last', async () => {
    const transport = world.transport();
    const seen: (string | undefined)[] = [];
    await world.consumer(transport, {
      name: CONSUMER,
      on: [
        handle(events.stepTaken, async (ctx: TestContext, event) => {
          seen.push(ofCaller.getStore());
          await note(ctx, CONSUMER, event);
        }),
      ],
    });
    await world.relay(transport);
    for (const n of [1, 2, 3]) {
      await ofCaller.run('the caller', async () => {
        await world.emit('clinical', { userId: newUser() }, [n]);
        transport.wake();
      });
      await until('its effect', async () => (await world.effects(CONSUMER)).length === n);
    }
    expect(seen).toEqual([undefined, undefined, undefined]);
  });

  test('a listener does not hear a hint in the context of whoever gave it', async () => {
    const transport = world.transport();
    const seen: (string | undefined)[] = [];
    transport.onHint('cache', 'brand:1', () => void seen.push(ofCaller.getStore()));
    await vi.waitFor(
      () => {
        ofCaller.run('the caller', () => transport.hint('cache', 'brand:1', null)); // lossy: until it listens
        expect(seen.length).toBeGreaterThan(0);
      },
      { timeout: 10_000, interval: 100 },
    );
    expect(new Set(seen)).toEqual(new Set([undefined]));
  });
});
