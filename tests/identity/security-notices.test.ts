import { hash } from '@node-rs/argon2';
import { beforeAll, expect, test } from 'vitest';
import { DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { PASSWORD, refresh, signIn } from './browser.js';

let p: TestPlatform;
beforeAll(async () => void (p = await platform({ services: ['identity'] })));

const notices = async (userId: string): Promise<string[]> => {
  const text =
    "select data->'params'->>'kind' as kind from events.outbox where type = 'comms.message.send_requested.v1' and user_id = $1 order by seq";
  return (await p.sql<{ kind: string }>(text, [userId])).map(row => row.kind);
};

test('a refresh token that is used again ends its family and is told to its owner, once', async () => {
  const { refresh_token } = await signIn(p, { client: 'demo-app' });
  expect((await refresh(p, 'demo-app', refresh_token)).status).toBe(200);
  for (let n = 0; n < 2; n++) expect((await refresh(p, 'demo-app', refresh_token)).body.error).toBe('invalid_grant');
  expect((await notices(DEMO)).filter(kind => kind === 'token_replayed')).toEqual(['token_replayed']);
});

test('a notice holds its kind and nothing else of the person', async () => {
  const [row] = await p.sql("select data from events.outbox where type = 'comms.message.send_requested.v1' and user_id = $1 limit 1", [
    DEMO,
  ]);
  expect(row.data).toEqual({
    request_id: expect.any(String),
    template: 'security_notice',
    channels: ['email'],
    recipient_type: 'user',
    recipient_id: null,
    params: { kind: expect.stringMatching(/^[a-z_]+$/) },
    dedupe_key: expect.stringMatching(/^security_notice:[\w-]{36}$/),
    send_after: null,
    category: 'transactional',
  });
});

test('a password that was hashed with weaker parameters is hashed again when it is used', async () => {
  const weak = await hash(PASSWORD, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
  await p.sql('update identity.credential_password set hash = $2 where user_id = $1', [DEMO2, weak]);
  await signIn(p, { email: 'demo2@example.test' });
  const [row] = await p.sql<{ hash: string }>('select hash from identity.credential_password where user_id = $1', [DEMO2]);
  expect(row!.hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  await signIn(p, { email: 'demo2@example.test' });
});
