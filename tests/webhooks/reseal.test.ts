import { beforeAll, expect, test } from 'vitest';
import { createSealer } from '../../runtime/data/crypto.js';
import { headersContext, secretContext } from '../../subgraphs/webhooks/commands/configuration.js';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import { expectSigned, PROTOCOL, protocolBegan, subscribe, untilStatuses } from './fixture.js';

const [fresh, old] = [7, 8].map(byte => Buffer.alloc(32, byte).toString('base64'));
let p: TestPlatform;

beforeAll(async () => {
  p = await platform({ services: ['webhooks', 'clinical'], transport: 'run', env: { WEBHOOKS_SECRET_KEYS: `fresh:${fresh},old:${old}` } });
});

test('what an older key has sealed is sealed anew within a day, and signs as before', async () => {
  const receiver = await p.receiver();
  const { id, signing_secret } = await subscribe(p, receiver.url, [PROTOCOL], { headers: [{ name: 'X-Env', value: 'prod' }] });
  const [{ secret }] = await p.sql('select id as secret from webhooks.webhook_secret where subscription_id = $1', [id]);
  const older = createSealer(`old:${old}`);
  await p.sql('update webhooks.webhook_secret set value_sealed = $2 where id = $1', [
    secret,
    older.seal(signing_secret, secretContext(secret)),
  ]);
  const headers = JSON.stringify([{ name: 'X-Env', value: 'prod' }]);
  await p.sql('update webhooks.webhook_subscription set headers_sealed = $2 where id = $1', [id, older.seal(headers, headersContext(id))]);
  await p.clock('webhooks', { advance: 'P1D' });

  const onlyFresh = createSealer(`fresh:${fresh}`);
  const [row] = await p.sql(
    'select value_sealed, headers_sealed from webhooks.webhook_secret k join webhooks.webhook_subscription s on s.id = k.subscription_id where k.id = $1',
    [secret],
  );
  expect(onlyFresh.open(row.value_sealed, secretContext(secret))).toBe(signing_secret);
  expect(onlyFresh.open(row.headers_sealed, headersContext(id))).toBe(headers);
  await protocolBegan(p, DEMO);
  await untilStatuses(p, id, ['delivered']);
  expectSigned(receiver.received[0]!, signing_secret);
  expect(receiver.received[0]!.headers['x-env']).toBe('prod');
});
