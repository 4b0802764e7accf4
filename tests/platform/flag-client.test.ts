import { OpenFeature } from '@openfeature/server-sdk';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { FlagClient, openFeatureClient } from '../../runtime/flags/client.js';
import { pollFlags } from '../../runtime/flags/polling.js';
import { evaluateFlag, FLAG_ATTRIBUTES, FLAG_OPERATORS, type FlagDefinition, type FlagSnapshot } from '../../runtime/flags/evaluation.js';
import { BRAND, flag, snapshot, user } from './flag-fixtures.js';

const KEY = 'feature.this';

/** A client over a source that the test controls, with a clock that it moves. */
function clientOver(first: FlagSnapshot) {
  const state = { source: first as FlagSnapshot | Error, now: 0, asked: [] as (number | null)[] };
  const read = async (ifNot: number | null): Promise<FlagSnapshot | null> => {
    state.asked.push(ifNot);
    if (state.source instanceof Error) throw state.source;
    return state.source.revision === ifNot ? null : state.source;
  };
  return { state, client: new FlagClient(read, pino({ level: 'silent' }), () => state.now) };
}

const withValues = flag(KEY, {
  variants: [
    { name: 'on', value: 'S3' },
    { name: 'off', value: 'S0' },
  ],
});

describe('a service', () => {
  test('evaluates in process and sends the revision that it has', async () => {
    const { client, state } = clientOver(snapshot(flag(KEY)));
    await client.refresh();
    await client.refresh();
    expect(client.boolean(KEY)).toBe(true);
    expect(client.evaluate(KEY)).toMatchObject({ value: true, variant: 'on', reason: 'DEFAULT', revision: 1 });
    expect(state.asked).toEqual([null, 1]);
  });

  test('that stops waits for the read that runs, and reads no more', async () => {
    let answer: (fresh: FlagSnapshot) => void = () => undefined;
    const asked: (number | null)[] = [];
    const source = (ifNot: number | null) => {
      asked.push(ifNot);
      return new Promise<FlagSnapshot>(resolve => (answer = resolve));
    };
    const client = new FlagClient(source, pino({ level: 'silent' }), () => 0);
    void client.refresh();
    let stopped = false;
    const stopping = client.stop().then(() => (stopped = true));
    await Promise.resolve();
    expect(stopped).toBe(false);
    answer(snapshot(flag(KEY)));
    await stopping;
    await client.refresh();
    expect(asked).toEqual([null]);
  });

  test('tells just what the platform service tells, for any flag and target', async () => {
    const share = fc.record({ variant: fc.constantFrom('on', 'off', 'nope'), basisPoints: fc.integer({ min: 0, max: 6000 }) });
    const serve = fc.oneof(
      fc.record({ variant: fc.constantFrom('on', 'off', 'nope') }),
      fc.record({ rollout: fc.array(share, { maxLength: 2 }) }),
    );
    const condition = fc.record({
      attribute: fc.constantFrom(...FLAG_ATTRIBUTES),
      operator: fc.constantFrom(...FLAG_OPERATORS),
      values: fc.array(fc.constantFrom('DE', '1.2.0', BRAND, user(1))),
    });
    const rules = fc.array(
      fc.tuple(serve, fc.array(condition, { maxLength: 2 })).map(([served, conditions]) => ({ ...served, conditions })),
      { maxLength: 3 },
    );
    const target = fc.record({
      brandId: fc.constantFrom(BRAND, null),
      userId: fc.constantFrom(user(1), user(2), null),
      attributes: fc.constantFrom<Record<string, string>>({}, { COUNTRY: 'DE', APP_VERSION: '1.3.0' }),
    });
    await fc.assert(
      fc.asyncProperty(rules, serve, fc.boolean(), fc.boolean(), target, async (list, defaultRule, killed, archived, who) => {
        const shown = snapshot(
          flag(KEY, { rules: list, defaultRule, killed, archived, prerequisites: [{ key: 'feature.first', variant: 'on' }] }),
          flag('feature.first'),
        );
        const overTheWire = [...shown.flags.values()].map(one => JSON.parse(JSON.stringify(one)) as FlagDefinition);
        const { client } = clientOver(snapshot(...overTheWire));
        await client.refresh();
        expect(client.evaluate(KEY, who)).toEqual(evaluateFlag(shown, KEY, who));
      }),
    );
  });

  test('without a snapshot yet reads every flag as off', async () => {
    const { client, state } = clientOver(snapshot(flag(KEY)));
    state.source = new Error('unreachable');
    await client.refresh();
    expect([client.boolean(KEY), client.string(KEY, 'S0'), client.evaluate(KEY).errorCode]).toEqual([false, 'S0', 'PROVIDER_NOT_READY']);
  });

  test('reads an unknown flag and a value of the wrong type as off', async () => {
    const { client } = clientOver(snapshot(flag(KEY), flag('feature.text', { variants: withValues.variants })));
    await client.refresh();
    expect([client.boolean('feature.nope'), client.boolean('feature.text'), client.string(KEY, 'S0')]).toEqual([false, false, 'S0']);
  });

  test('takes over a changed snapshot as a whole', async () => {
    const { client, state } = clientOver(snapshot(flag(KEY), flag('feature.gone')));
    await client.refresh();
    state.source = { ...snapshot(flag(KEY, { killed: true })), revision: 2 };
    await client.refresh();
    expect([client.boolean(KEY), client.evaluate(KEY).reason, client.evaluate('feature.gone').errorCode]).toEqual([
      false,
      'DISABLED',
      'FLAG_NOT_FOUND',
    ]);
  });

  test('that is hinted during a read reads once more, so that the change is in force when the wait ends', async () => {
    const gates: ((one: FlagSnapshot | null) => void)[] = [];
    const client = new FlagClient(() => new Promise(resolve => gates.push(resolve)), pino({ level: 'silent' }));
    const slow = client.refresh();
    const [hinted, hintedAgain] = [client.refresh(), client.refresh()];
    gates[0]!(snapshot(flag(KEY)));
    await slow;
    expect(client.boolean(KEY)).toBe(true);
    await expect.poll(() => gates.length).toBe(2);
    gates[1]!({ ...snapshot(flag(KEY, { killed: true })), revision: 2 });
    await Promise.all([hinted, hintedAgain]);
    expect([client.boolean(KEY), gates.length]).toEqual([false, 2]);
  });
});

describe('while the bus is stopped', () => {
  afterEach(() => void vi.useRealTimers());

  test('a client asks every 5 s by itself, so that a kill is in force within 7 s', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { client, state } = clientOver(snapshot(flag(KEY)));
    const stop = await pollFlags([client]);
    state.source = { ...snapshot(flag(KEY, { killed: true, revision: 2 })), revision: 2 };
    await vi.advanceTimersByTimeAsync(4_999);
    expect(client.boolean(KEY)).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(client.evaluate(KEY)).toMatchObject({ value: false, reason: 'DISABLED', revision: 2 });
    await client.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(state.asked).toEqual([null, 1]); // a stopped client asks no more
    stop();
  });

  test('the clients of a process ask once for all while nothing changes, and each for itself when something has or the one cannot read', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const [one, two, three] = [clientOver(snapshot(flag(KEY))), clientOver(snapshot(flag(KEY))), clientOver(snapshot(flag(KEY)))];
    const asked = (): number[] => [one, two, three].map(({ state }) => state.asked.length);
    const stop = await pollFlags([one.client, two.client, three.client]);
    const poll = (): Promise<unknown> => {
      for (const { state } of [one, two, three]) state.now += 5_000;
      return vi.advanceTimersByTimeAsync(5_000);
    };
    await poll();
    await poll();
    expect(asked()).toEqual([3, 1, 1]);
    for (const { state } of [one, two, three]) state.source = { ...snapshot(flag(KEY, { killed: true })), revision: 2 };
    await poll();
    expect([one, two, three].map(({ client }) => client.boolean(KEY))).toEqual([false, false, false]);
    expect(asked()).toEqual([4, 2, 2]);
    one.state.source = new Error('away');
    await poll();
    expect(asked()).toEqual([5, 3, 3]);
    stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked()).toEqual([5, 3, 3]);
  });

  test('what one client of a process has confirmed is confirmed for the others, and nothing else is', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const [one, two] = [clientOver(snapshot(flag(KEY))), clientOver(snapshot(flag(KEY)))];
    const stop = await pollFlags([one.client, two.client]);
    for (const { state } of [one, two]) state.now = 100_000;
    await vi.advanceTimersByTimeAsync(5_000);
    for (const { state } of [one, two]) state.now = 200_000;
    expect(two.client.boolean(KEY)).toBe(true); // confirmed 100 s ago, read by itself 200 s ago
    for (const { state } of [one, two]) state.source = new Error('away');
    await vi.advanceTimersByTimeAsync(5_000);
    for (const { state } of [one, two]) state.now = 221_000;
    expect(two.client.boolean(KEY)).toBe(false);
    stop();
  });
});

describe('a snapshot that was not confirmed', () => {
  const open = flag('feature.open', { failClosed: false });

  test.each([
    [120_000, true, 'DEFAULT'],
    [120_001, false, 'ERROR'],
  ])('for %i ms leaves a fail-closed flag %s', async (age, value, reason) => {
    const { client, state } = clientOver(snapshot(flag(KEY), open));
    await client.refresh();
    state.source = new Error('unreachable');
    state.now = age;
    await client.refresh();
    expect([client.boolean(KEY), client.evaluate(KEY).reason]).toEqual([value, reason]);
  });

  test('for 121 s serves the off variant of a fail-closed flag and the last value of others with reason stale', async () => {
    const { client, state } = clientOver(snapshot({ ...withValues }, open));
    await client.refresh();
    state.source = new Error('unreachable');
    state.now = 121_000;
    await client.refresh();
    expect(client.evaluate(KEY)).toMatchObject({ value: 'S0', variant: 'off', reason: 'ERROR', errorCode: 'PROVIDER_NOT_READY' });
    expect(client.evaluate('feature.open')).toMatchObject({ value: true, variant: 'on', reason: 'STALE', errorCode: null });
  });

  test('is trusted again as soon as it is confirmed, also when nothing changed', async () => {
    const { client, state } = clientOver(snapshot(flag(KEY)));
    await client.refresh();
    state.now = 500_000;
    expect(client.boolean(KEY)).toBe(false);
    await client.refresh();
    expect(client.boolean(KEY)).toBe(true);
  });

  test('that never came is not confirmed by an answer that says "unchanged"', async () => {
    const client = new FlagClient(async () => null, pino({ level: 'silent' }));
    await client.refresh();
    expect(client.boolean(KEY)).toBe(false);
  });
});

describe('a flag that comes corrupt', () => {
  const corrupt = { defaultRule: { variant: 'nope' } };

  test('is off when it fails closed', async () => {
    const { client, state } = clientOver(snapshot(flag(KEY)));
    await client.refresh();
    state.source = { ...snapshot(flag(KEY, corrupt)), revision: 2 };
    await client.refresh();
    expect([client.boolean(KEY), client.evaluate(KEY).errorCode]).toEqual([false, 'GENERAL']);
  });

  test('else keeps its last value with reason stale until it is sound again', async () => {
    const { client, state } = clientOver(snapshot(flag(KEY, { failClosed: false })));
    await client.refresh();
    for (const revision of [2, 3]) {
      state.source = { ...snapshot(flag(KEY, { failClosed: false, ...corrupt })), revision };
      await client.refresh();
      expect([client.boolean(KEY), client.evaluate(KEY).reason]).toEqual([true, 'STALE']);
    }
    state.source = { ...snapshot(flag(KEY, { failClosed: false })), revision: 4 };
    await client.refresh();
    expect([client.boolean(KEY), client.evaluate(KEY).reason]).toEqual([true, 'DEFAULT']);
  });
});

describe('an override', () => {
  const other = '0190b3a0-0000-7000-8000-000000000002';

  test('that is most specific wins: user and brand, user, brand, all', async () => {
    const { client } = clientOver(snapshot());
    client.override(KEY, 'all');
    client.override(KEY, 'brand', BRAND);
    client.override(KEY, 'user', null, user(1));
    client.override(KEY, 'both', BRAND, user(1));
    const reads = [{ brandId: BRAND, userId: user(1) }, { brandId: other, userId: user(1) }, { brandId: BRAND, userId: user(2) }, {}];
    expect(reads.map(target => client.string(KEY, 'none', target))).toEqual(['both', 'user', 'brand', 'all']);
  });

  test('wins over the snapshot, and null removes just that one', async () => {
    const { client } = clientOver(snapshot(flag(KEY)));
    await client.refresh();
    client.override(KEY, false);
    client.override(KEY, true, BRAND);
    expect([client.boolean(KEY), client.boolean(KEY, { brandId: BRAND })]).toEqual([false, true]);
    client.override(KEY, null);
    expect([client.boolean(KEY, { brandId: other }), client.evaluate(KEY, { brandId: BRAND }).reason]).toEqual([true, 'STATIC']);
  });

  test('replaces an earlier one of the same scope', () => {
    const { client } = clientOver(snapshot());
    client.override(KEY, true, BRAND, user(1));
    client.override(KEY, false, BRAND, user(1));
    client.override(KEY, null, BRAND, user(1));
    expect(client.read(KEY, { brandId: BRAND, userId: user(1) })).toBeNull();
  });

  test('of "!error" makes reading fail, which is off', async () => {
    const { client } = clientOver(snapshot(flag(KEY)));
    await client.refresh();
    client.override(KEY, '!error');
    expect([client.boolean(KEY), client.read(KEY, {}), client.evaluate(KEY).errorCode]).toEqual([false, null, 'GENERAL']);
  });
});

describe('the OpenFeature provider', () => {
  afterAll(() => OpenFeature.close());

  async function openFeature(service: string, shown: FlagSnapshot) {
    const { client, state } = clientOver(shown);
    await client.refresh();
    return { flags: client, state, features: await openFeatureClient(service, client) };
  }

  test('answers with value, variant, reason and revision', async () => {
    const { features } = await openFeature('answers', snapshot(flag(KEY, { revision: 7 })));
    expect(await features.getBooleanDetails(KEY, false)).toMatchObject({
      value: true,
      variant: 'on',
      reason: 'DEFAULT',
      flagMetadata: { revision: 7 },
    });
  });

  test('takes the user from the targeting key, the brand and the attributes from the context', async () => {
    const rules = [
      {
        conditions: [
          { attribute: 'USER', operator: 'IN', values: [user(1)] },
          { attribute: 'BRAND', operator: 'IN', values: [BRAND] },
          { attribute: 'APP_VERSION', operator: 'GTE', values: ['2.0.0'] },
        ],
        variant: 'on',
      },
    ] as const;
    const { features } = await openFeature('targets', snapshot(flag(KEY, { defaultRule: { variant: 'off' }, rules })));
    const context = { targetingKey: user(1), brandId: BRAND, appVersion: '2.1.0' };
    expect(await features.getBooleanValue(KEY, false, context)).toBe(true);
    expect(await features.getBooleanValue(KEY, false, { ...context, appVersion: '1.9.0' })).toBe(false);
  });

  test('serves the code default with the error code for an unknown flag, a wrong type, and no snapshot', async () => {
    const { features } = await openFeature('errors', snapshot(flag(KEY)));
    expect(await features.getBooleanDetails('feature.nope', false)).toMatchObject({
      value: false,
      reason: 'ERROR',
      errorCode: 'FLAG_NOT_FOUND',
    });
    expect(await features.getStringDetails(KEY, 'S0')).toMatchObject({ value: 'S0', reason: 'ERROR', errorCode: 'TYPE_MISMATCH' });
    expect(await features.getNumberDetails(KEY, 1)).toMatchObject({ value: 1, errorCode: 'TYPE_MISMATCH' });
    const empty = await openFeatureClient('empty', new FlagClient(async () => null, pino({ level: 'silent' })));
    expect(await empty.getBooleanDetails(KEY, false)).toMatchObject({ value: false, errorCode: 'PROVIDER_NOT_READY' });
  });

  test('serves the code default for a rollout without a user', async () => {
    const { features } = await openFeature(
      'keys',
      snapshot(flag(KEY, { defaultRule: { rollout: [{ variant: 'on', basisPoints: 5000 }] } })),
    );
    expect(await features.getBooleanDetails(KEY, false, { brandId: BRAND })).toMatchObject({
      value: false,
      errorCode: 'TARGETING_KEY_MISSING',
    });
  });
});
