import { expect, test } from 'vitest';
import { startPlatform } from '../../gateway/composition/platform.js';
import { loadConfig } from '../../runtime/config.js';
import { SERVICES } from '../../subgraphs/services.js';

/** Nobody listens there, so an error about it would show that the secrets were not asked for first. */
const DATABASE_URL = 'postgres://127.0.0.1:9/nowhere';
const starting = (env: Record<string, string>) => startPlatform({ config: loadConfig({ DATABASE_URL, ...env }), services: SERVICES });

test.each([
  [
    'production',
    { NODE_ENV: 'production', SERVICES: 'identity,clinical' },
    /^not set: TOKEN_SIGNING_KEK, ENCRYPTION_KEYS, INTERNAL_CLIENT_SECRET_IDENTITY, INTERNAL_CLIENT_SECRET_CLINICAL; production generates/,
  ],
  [
    'one of several machines',
    { SERVICES: 'clinical', TOKEN_SIGNING_KEK: 'x', ENCRYPTION_KEYS: 'y' },
    /^not set: INTERNAL_CLIENT_SECRET_CLINICAL; /,
  ],
  ['a process without services', { ROLES: 'relay' }, /^not set: INTERNAL_CLIENT_SECRET_PLATFORM; /],
])('%s: every secret that is missing is named before anything else is tried', async (_case, env, message) => {
  await expect(starting(env)).rejects.toThrow(message);
});
