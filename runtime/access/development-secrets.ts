import { hkdfSync, randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { schemaOf, SLUGS } from '../../events/slugs.js';

type Env = Readonly<Record<string, string | undefined>>;
type Secrets = Readonly<Record<string, string>>;

/** The first that a folder gets. The others can be derived from it, so a file that lost it cannot be completed. */
const ROOT = 'TOKEN_SIGNING_KEK';
const base64 = (key: Buffer): string => key.toString('base64');
const base64url = (key: Buffer): string => key.toString('base64url');

/** Names with the form in which each writes its 32 bytes. */
const WANTED: readonly (readonly [name: string, written: (key: Buffer) => string])[] = [
  [ROOT, base64],
  ['ENCRYPTION_KEYS', key => `dev1:${base64(key)}`],
  ['SUBGRAPH_SECRET', base64url],
  ['LEDGER_SIGNING_KEY', base64],
  ['GIFT_PEPPER', base64url],
  ...SLUGS.map(slug => [`INTERNAL_CLIENT_SECRET_${schemaOf(slug).toUpperCase()}`, base64url] as const),
];

const parse = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter(line => line.includes('='))
      .map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

const linesOf = (values: Secrets): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

/** A host without a name is a socket. */
const LOCAL = /^(|localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;
const isElsewhere = (url: string | undefined): boolean => Boolean(url) && !LOCAL.test(URL.parse(url!)?.hostname ?? '');

/** Whether this is one of several processes, and another one may run on a machine that does not see this data folder. */
function hasOtherMachines(env: Env): boolean {
  const others = Object.keys(env).filter(name => name === 'GATEWAY_URL' || name.startsWith('SUBGRAPH_URL_'));
  const isPart = Boolean(env.SERVICES || env.ROLES);
  return others.some(name => isElsewhere(env[name])) || (isPart && isElsewhere(env.DATABASE_URL));
}

/**
 * Environment completed with the secrets that a development start needs: generated once into `<dataDir>/secrets.env` (mode 0600)
 * and read from there afterwards, by any number of processes at once. What the environment itself sets wins. Nothing is generated in
 * production, nor where other machines would have to know it. @throws Error when the file lost the key from which the others follow.
 */
export async function withDevelopmentSecrets(env: Env): Promise<Env> {
  if (env.NODE_ENV === 'production' || hasOtherMachines(env) || WANTED.every(([name]) => env[name])) return env;
  const folder = env.DATA_DIR || '.data';
  const kept = await completed(join(folder, 'secrets.env'), folder, env[ROOT]);
  return { ...kept, ...Object.fromEntries(Object.entries(env).filter(([, value]) => value)) };
}

const read = (file: string): Promise<string | null> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? null : Promise.reject(error)));

/** The secrets of the file, which afterwards has all. */
async function completed(file: string, folder: string, ownRoot: string | undefined): Promise<Secrets> {
  await mkdir(folder, { recursive: true });
  const text = (await read(file)) ?? (await created(file));
  const kept = parse(text);
  const missing = WANTED.filter(([name]) => !kept[name]);
  if (missing.length === 0) return kept;
  const root = kept[ROOT] ?? ownRoot;
  if (!root) throw new Error(`${file} lacks ${ROOT}: restore it, or remove the folder ${folder} with its database to begin anew`);
  const added = Object.fromEntries(missing.map(([name, written]) => [name, written(derived(root, name))]));
  await replace(file, `${text}${text.endsWith('\n') || text === '' ? '' : '\n'}${linesOf(added)}`);
  return { ...kept, ...added };
}

/** A name that is added later is the same in every process that adds it, whichever writes last. */
const derived = (root: string, name: string): Buffer => Buffer.from(hkdfSync('sha256', root, 'secrets.env', name, 32));

/** Of several processes one makes the file, whole; link(2) refuses the others, which read it. */
async function created(file: string): Promise<string> {
  const text = linesOf(Object.fromEntries(WANTED.map(([name, written]) => [name, written(randomBytes(32))])));
  await viaTemporary(file, text, temporary =>
    link(temporary, file).catch((error: NodeJS.ErrnoException) => error.code === 'EEXIST' || Promise.reject(error)),
  );
  return readFile(file, 'utf8');
}

const replace = (file: string, text: string): Promise<void> => viaTemporary(file, text, temporary => rename(temporary, file));

async function viaTemporary(file: string, text: string, publish: (temporary: string) => Promise<unknown>): Promise<void> {
  const temporary = `${file}.${randomBytes(8).toString('hex')}`;
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx', flush: true });
    await publish(temporary);
  } finally {
    await rm(temporary, { force: true });
  }
}
