import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { schemaOf, SLUGS } from '../../events/slugs.js';

type Env = Readonly<Record<string, string | undefined>>;

const WANTED: readonly (readonly [string, () => string])[] = [
  ['TOKEN_SIGNING_KEK', () => randomBytes(32).toString('base64')],
  ['ENCRYPTION_KEYS', () => `dev1:${randomBytes(32).toString('base64')}`],
  ['SUBGRAPH_SECRET', () => randomBytes(32).toString('base64url')],
  ...SLUGS.map(slug => [`INTERNAL_CLIENT_SECRET_${schemaOf(slug).toUpperCase()}`, () => randomBytes(32).toString('base64url')] as const),
];

const parse = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter(line => line.includes('='))
      .map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

/**
 * Environment completed with the secrets that a development start needs: generated once into `<dataDir>/secrets.env` (mode 0600)
 * and read from there afterwards. What the environment itself sets wins. Production generates nothing.
 */
export async function withDevelopmentSecrets(env: Env): Promise<Env> {
  if (env.NODE_ENV === 'production' || WANTED.every(([name]) => env[name])) return env;
  const folder = env.DATA_DIR || '.data';
  const file = join(folder, 'secrets.env');
  const kept = parse(await readFile(file, 'utf8').catch(() => ''));
  const missing = WANTED.filter(([name]) => !kept[name]);
  for (const [name, make] of missing) kept[name] = make();
  if (missing.length) await save(folder, file, kept);
  return { ...kept, ...Object.fromEntries(Object.entries(env).filter(([, value]) => value)) };
}

async function save(folder: string, file: string, values: Record<string, string>): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(
    file,
    Object.entries(values)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
    { mode: 0o600 },
  );
  await chmod(file, 0o600); // the mode above counts only for a new file
}
