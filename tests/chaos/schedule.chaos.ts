import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RETRY_SECONDS } from '../../subgraphs/webhooks/rules/schedule.js';
import { until } from '../support/until.js';
import { Backends, World } from './support/world.js';

/** Debian: `apt-get install faketime`. The one for processes with threads. */
const LIBRARY = [
  process.env.LIBFAKETIME ?? '',
  ...['x86_64', 'aarch64'].map(name => `/usr/lib/${name}-linux-gnu/faketime/libfaketimeMT.so.1`),
].find(existsSync);
/** The clock is set so long before an attempt is due, ms. */
const BEFORE_MS = 3_000;

interface Attempt {
  started_at: string;
  finished_at: string;
}

let backends: Backends;

beforeAll(async () => {
  backends = await Backends.start();
});

afterAll(() => backends.stop());

test('with the system clock of the delivery workers moved by faketime: 60 s, 5 min, 30 min, 2 h, 12 h, exact to 2 %', async () => {
  if (!LIBRARY) return console.log('NOT RUN: libfaketime is not installed here (Debian: apt-get install faketime)');
  const clock = join(backends.folder, 'faketime');
  let offsetMs = 0;
  const move = async (ms: number): Promise<void> => writeFile(clock, `+${((offsetMs += ms) / 1_000).toFixed(3)}`, { mode: 0o644 });
  await move(0);
  const world = await World.open(backends, {
    seed: 4,
    faults: [['failed', 1]],
    webhooks: {
      WEBHOOKS_RETRY_SCHEDULE_SECONDS: '',
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
  });
  try {
    const [api, receiver] = [world.apis[0]!, world.receivers[0]!];
    const token = await api.serviceToken();
    const observations = [{ code: 'ldl_c', value: 110, unit: 'mg/dL', collected_at: '2026-10-30T08:00:00.000Z', source: 'manual' }];
    await api.rest('POST', '/clinical/v1/biomarkers', { token, body: { user_id: world.users[0], observations } });
    const read = async () => {
      const { body } = await api.rest('GET', '/webhooks/v1/webhook-deliveries?limit=10', { token });
      return body.data.find((one: any) => one.client_id && receiver.arrivals[0] && one.event_id === receiver.arrivals[0].eventId);
    };
    const first = await until('the first attempt', read, one => one?.attempt_count === 1);
    const path = `/webhooks/v1/webhook-deliveries/${first.id}`;
    for (let attempt = 1; attempt <= RETRY_SECONDS.length; attempt++) {
      const { body } = await api.rest('GET', path, { token });
      await move(Date.parse(body.next_attempt_at) - BEFORE_MS - (Date.now() + offsetMs));
      await until(
        `attempt ${attempt + 1}`,
        async () => (await api.rest('GET', path, { token })).body.attempt_count,
        count => count > attempt,
      );
    }
    const attempts: Attempt[] = (await api.rest('GET', `${path}/attempts`, { token })).body.data.reverse();
    const waits = attempts.slice(1).map((one, index) => (Date.parse(one.started_at) - Date.parse(attempts[index]!.finished_at)) / 1_000);
    const whole = (Date.parse(attempts[5]!.started_at) - Date.parse(attempts[0]!.started_at)) / 1_000;
    console.log(`waits ${waits.map(wait => wait.toFixed(2)).join(', ')} s; the whole schedule ${whole.toFixed(1)} s (52,560 are meant)`);
    waits.forEach((wait, index) => {
      expect(wait).toBeGreaterThanOrEqual(RETRY_SECONDS[index]!);
      expect(wait).toBeLessThanOrEqual(RETRY_SECONDS[index]! + Math.min(1, RETRY_SECONDS[index]! * 0.02));
    });
    expect(Math.abs(whole / 52_560 - 1)).toBeLessThan(0.02);
    expect((await api.rest('GET', path, { token })).body).toMatchObject({
      status: 'dead_lettered',
      dead_letter_reason: 'retries_exhausted',
    });
  } finally {
    await world.close();
  }
});
