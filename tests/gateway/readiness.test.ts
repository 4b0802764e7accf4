import { expect, test } from 'vitest';
import { startPlatform } from '../../gateway/composition/platform.js';
import { loadConfig } from '../../runtime/config.js';
import { SERVICES } from '../../subgraphs/services.js';
import { atEnd } from '../support/at-end.js';
import { freePort, platform } from '../support/platform.js';
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
