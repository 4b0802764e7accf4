import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { DEMO, platform } from '../support/platform.js';
import { protocolBegan, PROTOCOL, subscribe, untilStatuses } from './fixture.js';

/** How long the receiver takes for its answer, ms. */
const TAKES_MS = 700;

test('a retry is due the delay after the end of the failed attempt, however long that took', async () => {
  const p = await platform({ transport: 'run', manualClock: false });
  const receiver = await p.receiver();
  receiver.reply(async (_, response) => {
    await sleep(TAKES_MS);
    response.writeHead(500).end();
  });
  const subscription = await subscribe(p, receiver.url, [PROTOCOL]);
  await protocolBegan(p, DEMO);
  const [delivery] = await untilStatuses(p, subscription.id, ['retrying']);
  const [attempt] = await p.sql<{ started_at: Date | string; finished_at: Date | string }>(
    'select started_at, finished_at from webhooks.webhook_attempt where delivery_id = $1',
    [delivery.id],
  );
  const [startedAt, finishedAt] = [new Date(attempt!.started_at).getTime(), new Date(attempt!.finished_at).getTime()];
  expect(finishedAt - startedAt).toBeGreaterThanOrEqual(TAKES_MS);
  expect(Date.parse(delivery.next_attempt_at) - finishedAt).toBe(60_000);
});
