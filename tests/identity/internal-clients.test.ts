import pg from 'pg';
import { inject, beforeAll, expect, test } from 'vitest';
import { startPlatform } from '../../gateway/composition/platform.js';
import { loadConfig } from '../../runtime/config.js';
import { SERVICES } from '../../subgraphs/services.js';
import { atEnd } from '../support/at-end.js';
import { createDatabase, dropDatabase } from '../support/database.js';
import { platformEnv, RemotePlatform, SECRETS } from '../support/platform.js';
import { post } from './oauth.js';

/** A database in which nothing was planted, as production begins with. */
let databaseUrl: string;
let owner: pg.Pool;
beforeAll(async () => {
  databaseUrl = await createDatabase(inject('databaseUrl'));
  owner = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  atEnd(async () => {
    await owner.end();
    await dropDatabase(databaseUrl);
  });
});

const FIRST = SECRETS.INTERNAL_CLIENT_SECRET_CLINICAL!;
const SECOND = 'another-secret-of-clinical-0123456789abcdef';
const sql = async (text: string): Promise<any[]> => (await owner.query(text)).rows;

/** Starts production with a secret of clinical, and ends it after the work. */
async function inProduction<T>(secret: string, work: (token: (secret: string) => Promise<any>) => Promise<T>): Promise<T> {
  const more = { NODE_ENV: 'production', INTERNAL_CLIENT_SECRET_CLINICAL: secret, STOP_GRACE_MS: '0' };
  const env = await platformEnv(databaseUrl, { services: ['identity'], manualClock: false, env: more });
  const running = await startPlatform({ config: loadConfig(env), services: SERVICES });
  const p = new RemotePlatform(env, owner);
  const token = (client_secret: string) =>
    post(p as never, 'token', { grant_type: 'client_credentials', client_id: 'svc-clinical', client_secret });
  try {
    return await work(token);
  } finally {
    await running.stop();
  }
}

const state = () =>
  sql(`select c.id, c.version, c.scopes, s.id as secret, s.expires_at from identity.oauth_client c join identity.oauth_client_secret s
  on s.client_id = c.id order by c.id, s.created_at`);

test('production makes the internal clients of the configured secrets at its start, and again changes nothing', async () => {
  await inProduction(FIRST, async token => {
    expect(await token(FIRST)).toMatchObject({ status: 200, body: { scope: 'admin:clinical' } });
    expect((await token('wrong')).status).toBe(401);
  });
  const made = await state();
  expect(made.map(row => row.id)).toEqual(expect.arrayContaining(['svc-clinical', 'svc-identity', 'svc-payments', 'svc-webhooks']));
  expect(made.find(row => row.id === 'svc-webhooks').scopes).toEqual(['admin:identity', 'admin:webhooks']);
  expect(await sql(`select id from identity.oauth_client where id not like 'svc-%'`)).toEqual([]); // and no development data
  await inProduction(FIRST, async () => expect(await state()).toEqual(made));
});

test('a secret that was changed in the configuration is taken over; the one before it goes on for an hour', async () => {
  await inProduction(SECOND, async token => expect([(await token(SECOND)).status, (await token(FIRST)).status]).toEqual([200, 200]));
  const [before, after] = (await state()).filter(row => row.id === 'svc-clinical');
  expect(after.expires_at).toBeNull();
  expect(before.expires_at.getTime() - Date.now()).toBeGreaterThan(3_500_000);
  expect(before.expires_at.getTime() - Date.now()).toBeLessThanOrEqual(3_600_000);
  expect(await sql(`select target from identity.audit_log where action = 'oauth_client.secret_rotated'`)).toEqual([
    { target: 'svc-clinical' },
  ]);
});

test('a secret that has ended is not brought back by a configuration that still has it', async () => {
  await sql(
    `update identity.oauth_client_secret set expires_at = now() - interval '1 s' where client_id = 'svc-clinical' and expires_at is not null`,
  );
  await inProduction(FIRST, async token => expect([(await token(FIRST)).status, (await token(SECOND)).status]).toEqual([401, 200]));
});

test('a scope that a release needs is added to a client that is there; what it holds besides stays', async () => {
  await sql(`update identity.oauth_client set scopes = '{admin:clinical,admin:labs}' where id in ('svc-clinical', 'svc-jobs')`);
  await inProduction(SECOND, async () => undefined);
  const scopes = await sql(`select scopes from identity.oauth_client where id in ('svc-clinical', 'svc-jobs') order by id`);
  expect(scopes).toEqual([
    { scopes: ['admin:clinical', 'admin:labs'] },
    { scopes: ['admin:capri', 'admin:clinical', 'admin:commerce', 'admin:comms', 'admin:jobs', 'admin:labs', 'admin:payments'] },
  ]);
});
