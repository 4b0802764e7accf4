import { beforeAll, describe, expect, test } from 'vitest';
import { startPlatform } from '../../gateway/composition/platform.js';
import { loadConfig } from '../../runtime/config.js';
import type { Context } from '../../runtime/request/context.js';
import { SERVICES } from '../../subgraphs/services.js';
import { atEnd } from '../support/at-end.js';
import { freePort, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

test('a service is ready when its consumers, timers and workers have started, not before', async () => {
  const p = await platform({ services: ['platform'] });
  const gate = Promise.withResolvers<void>();
  const worker = { role: 'scheduler', start: () => gate.promise.then(() => ({ stop: async () => undefined })) } as const;
  const slow = async () => ({ ...(await SERVICES.platform!()), workers: [worker] });
  const port = await freePort();
  const env = {
    ...p.env,
    PORT: String(port),
    SERVICES: 'platform',
    ROLES: 'subgraphs,consumers,scheduler',
    GATEWAY_URL: p.url,
    SUBGRAPH_URL_IDENTITY: p.url,
  };
  const starting = startPlatform({ config: loadConfig(env), services: { ...SERVICES, platform: slow } });
  atEnd(async () => {
    gate.resolve();
    await (await starting).stop();
  });
  const ask = () =>
    fetch(`http://localhost:${port}/platform/readyz`).then(
      async answer => [answer.status, ((await answer.json()) as any).checks],
      () => null,
    );
  const others = { database: 'ok', bus: 'ok', revocations: 'ok' };
  await until('all else to be ready', ask, answer => answer?.[1].revocations === 'ok');
  expect(await ask()).toEqual([503, expect.objectContaining({ ...others, work: 'failing' })]);
  gate.resolve();
  await starting;
  expect(await ask()).toEqual([200, expect.objectContaining({ ...others, work: 'ok' })]);
});

describe('the check of the database', () => {
  let p: TestPlatform;
  beforeAll(async () => {
    const env = { DATABASE_POOL_IDLE_MS: '1000', DATABASE_POOL_MAX: '4', ROLES: 'subgraphs,gateway,rest' }; // timers would open one as well
    p = await platform({ services: ['entitlements'], env });
  });

  const held = async (slug: string): Promise<number> => {
    const [row] = await p.sql(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = $1`,
      [`platform_${slug}`],
    );
    return row.n;
  };

  test('opens no connection of the service that is looked at', async () => {
    await until(
      'the service to be at rest',
      () => held('entitlements'),
      open => open === 0,
    );
    expect(await p.rest('GET', '/entitlements/readyz')).toMatchObject({ status: 200, body: { checks: { database: 'ok' } } });
    expect(await held('entitlements')).toBe(0);
  });

  test('fails for a service all of whose connections are in use', async () => {
    const host = p.host('entitlements');
    const gate = Promise.withResolvers<void>();
    let holding = 0;
    const hold = async (ctx: Context): Promise<void> => {
      await ctx.sql('select 1');
      holding++;
      await gate.promise;
    };
    const holders = Array.from({ length: host.config.poolMax }, () => host.transaction(hold));
    await until(
      'them to be in use',
      async () => holding,
      all => all === host.config.poolMax,
    );
    expect(await p.rest('GET', '/entitlements/readyz')).toMatchObject({ status: 503, body: { checks: { database: 'failing' } } });
    expect(await p.rest('GET', '/identity/readyz')).toMatchObject({ status: 200 });
    gate.resolve();
    await Promise.all(holders);
  });
});
