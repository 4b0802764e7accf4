import { expect, onTestFinished, test } from 'vitest';
import { startPlatform } from '../../gateway/composition/platform.js';
import { loadConfig } from '../../runtime/config.js';
import { SERVICES } from '../../subgraphs/services.js';
import { DEMO, freePort, platform } from '../support/platform.js';
import { until } from '../support/until.js';

test('a process that only works has its tokens from the gateway, and relays what the others have written', async () => {
  const p = await platform({ services: ['identity'], env: { ROLES: 'subgraphs,gateway,rest' } });
  const unpublished = async () => (await p.sql('select from events.outbox where published_at is null')).length;
  await p.rest('PATCH', '/identity/v1/users/me/profile', {
    token: await p.userToken(DEMO, ['read:profile', 'read:account']),
    body: { display_name: 'Dee' },
  });
  expect(await unpublished()).toBeGreaterThan(0);
  const env = { ...p.env, PORT: String(await freePort()), ROLES: 'relay,consumers,scheduler', GATEWAY_URL: p.url };
  const working = await startPlatform({ config: loadConfig(env), services: SERVICES });
  onTestFinished(() => working.stop());
  await until('the events to be published', unpublished, left => left === 0);
});
