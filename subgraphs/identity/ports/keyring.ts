import { createHmac } from 'node:crypto';
import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { createSealer, type Sealer } from '../../../runtime/data/crypto.js';
import type { ServiceHost, Context } from '../../../runtime/request/context.js';
import { activationOf, currentKey, type KeyTimes, publishedKeys, removableKeys, rotationDue } from '../rules/signing-keys.js';

/** Keys are read again this often, by identity's clock; a new one is published a day before it signs. */
const FRESH_MS = 60_000;
const KEY_LOCK = 'identity:signing_key';

export interface SigningKey extends KeyTimes {
  publicJwk: JWK;
  privateJwk: JWK;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
}

interface Row {
  kid: string;
  public_jwk: JWK;
  private_sealed: Buffer;
  active_from: number;
  max_ttl_seconds: number;
}

const sealContext = (kid: string): string => `signing_key.private:${kid}`;

/** The bytes of `TOKEN_SIGNING_KEK`. @throws Error when it is missing or malformed. */
function signingKekOf({ config }: ServiceHost): Buffer {
  const kek = Buffer.from(config.signingKek ?? '', 'base64');
  if (kek.length !== 32) throw new Error('TOKEN_SIGNING_KEK must be 32 bytes in base64');
  return kek;
}

/** Seals with `TOKEN_SIGNING_KEK`. @throws Error when it is missing or malformed. */
export const signingSealer = (host: ServiceHost): Sealer => createSealer(`kek:${signingKekOf(host).toString('base64')}`);

/** HMAC with a key of its own for each purpose, so that short codes cannot be guessed from a table. Source: identity 7, rule 1. */
export function codeHash(host: ServiceHost, purpose: string, code: string): Buffer {
  const key = createHmac('sha256', signingKekOf(host)).update(`identity.${purpose}`).digest();
  return createHmac('sha256', key).update(code).digest();
}

async function importKey(sealer: Sealer, row: Row): Promise<SigningKey> {
  const privateJwk = JSON.parse(open(sealer, row)) as JWK;
  const [privateKey, publicKey] = (await Promise.all([importJWK(privateJwk, 'ES256'), importJWK(row.public_jwk, 'ES256')])) as [
    CryptoKey,
    CryptoKey,
  ];
  const { kid, public_jwk: publicJwk, max_ttl_seconds: maxTtlSeconds } = row;
  return { kid, publicJwk, privateJwk, privateKey, publicKey, maxTtlSeconds, activeFrom: new Date(Math.round(row.active_from)) };
}

function open(sealer: Sealer, { kid, private_sealed }: Row): string {
  try {
    return sealer.open(private_sealed, sealContext(kid));
  } catch (cause) {
    throw new Error(
      `the signing keys in the database were sealed with another TOKEN_SIGNING_KEK than this process has (key ${kid}); give identity the one that the database was set up with, or begin with an empty database`,
      { cause },
    );
  }
}

const readRows = (ctx: Context): Promise<Row[]> =>
  ctx.sql<Row>(
    'select kid, public_jwk, private_sealed, extract(epoch from active_from)::float8 * 1000 as active_from, max_ttl_seconds from identity.signing_key order by active_from',
  );

const timesOf = (rows: readonly Row[]): KeyTimes[] =>
  rows.map(row => ({ kid: row.kid, activeFrom: new Date(Math.round(row.active_from)), maxTtlSeconds: row.max_ttl_seconds }));

async function makeKey(ctx: Context, activeFrom: Date): Promise<void> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const [privateJwk, publicJwk] = await Promise.all([exportJWK(privateKey), exportJWK(publicKey)]);
  const kid = await calculateJwkThumbprint(publicJwk);
  const sealed = signingSealer(ctx.host).seal(JSON.stringify({ ...privateJwk, kid }), sealContext(kid));
  await ctx.sql('insert into identity.signing_key (kid, public_jwk, private_sealed, created_at, active_from) values ($1, $2, $3, $4, $5)', [
    kid,
    JSON.stringify({ ...publicJwk, kid, alg: 'ES256', use: 'sig' }),
    sealed,
    ctx.now().toISOString(),
    activeFrom.toISOString(),
  ]);
  ctx.audit('signing_key.created', kid, { active_from: activeFrom.toISOString() });
}

/** When the next key is due; null before the first start. */
export const nextRotation = async (ctx: Context): Promise<Date | null> => rotationDue(timesOf(await readRows(ctx)));

/** Makes the next key if it is due, and drops those that no living token was signed with. Needs a transaction. */
export async function rotateKeys(ctx: Context, at: Date): Promise<void> {
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 17))', [KEY_LOCK]);
  const keys = timesOf(await readRows(ctx));
  const due = rotationDue(keys);
  if (due === null || due <= at) await makeKey(ctx, activationOf(keys, at));
  const dead = removableKeys(keys, at).map(key => key.kid);
  if (dead.length) await ctx.sql('delete from identity.signing_key where kid = any($1)', [dead]);
}

/** The keys, of which there is one at least. Needs a transaction. */
async function firstKey(ctx: Context): Promise<Row[]> {
  const rows = await readRows(ctx);
  if (rows.length) return rows;
  await rotateKeys(ctx, ctx.now());
  return readRows(ctx);
}

const LIVES = 'update identity.signing_key set max_ttl_seconds = greatest(max_ttl_seconds, $2) where kid = $1';

/** The signing keys as a process knows them; read again every minute. */
export class Keyring {
  #keys: SigningKey[] = [];
  #readAt: number | null = null;
  #reading: Promise<void> | null = null;
  #readings = 0;

  constructor(private readonly host: ServiceHost) {}

  /**
   * Keys that are not older than a minute; the first time makes the first key. Inside a transaction they are read by its own
   * connection: waiting for a second one while others wait for our locks could leave no connection for anybody.
   */
  async refresh(now: Date, within?: Context): Promise<void> {
    if (this.#readAt !== null && Math.abs(now.getTime() - this.#readAt) < FRESH_MS) return;
    if (within?.inTransaction) return this.#take(await firstKey(within), now);
    this.#reading ??= this.#read(now).finally(() => (this.#reading = null));
    await this.#reading;
  }

  async #read(now: Date): Promise<void> {
    const rows = await this.host.read(readRows);
    await this.#take(rows.length ? rows : await this.host.transaction(firstKey), now);
  }

  async #take(rows: readonly Row[], now: Date): Promise<void> {
    const sealer = signingSealer(this.host);
    const known = new Map(this.#keys.map(key => [key.kid, key]));
    this.#keys = await Promise.all(
      rows.map(async row => ({ ...(known.get(row.kid) ?? (await importKey(sealer, row))), ...timesOf([row])[0]! })),
    );
    this.#readAt = now.getTime();
    this.#readings++;
  }

  /** How often the keys were read: what is published may be another set after each. */
  get readings(): number {
    return this.#readings;
  }

  /** Whether tokens can be signed: the keys are read again where they are old. */
  async usable(): Promise<boolean> {
    return this.refresh(await this.host.read(async ctx => ctx.now())).then(
      () => this.#keys.length > 0,
      () => false,
    );
  }

  /** The key that signs now. @throws Error before `refresh`. */
  current(now: Date): SigningKey {
    const key = currentKey(this.#keys, now);
    if (!key) throw new Error('there is no signing key');
    return key;
  }

  /** Current, next and those of living tokens. */
  published(now: Date): SigningKey[] {
    return publishedKeys(this.#keys, now);
  }

  find(kid: string | undefined): SigningKey | null {
    return this.#keys.find(key => key.kid === kid) ?? null;
  }

  /** A key stays published as long as its longest token lives; a statement only for a life longer than any before. */
  async noteLifetime(kid: string, seconds: number): Promise<void> {
    const key = this.find(kid);
    if (!key || key.maxTtlSeconds >= seconds) return;
    await this.host.transaction(ctx => ctx.sql(LIVES, [kid, seconds]));
    key.maxTtlSeconds = seconds;
  }
}

const keyrings = new WeakMap<ServiceHost, Keyring>();

/** The keyring of a running service. */
export function keyringOf(host: ServiceHost): Keyring {
  let keyring = keyrings.get(host);
  if (!keyring) keyrings.set(host, (keyring = new Keyring(host)));
  return keyring;
}

/** The key that signs now, which stays published for what lives so many seconds. Needs a transaction. */
export async function signingKey(ctx: Context, seconds: number): Promise<SigningKey> {
  const keyring = keyringOf(ctx.host);
  await keyring.refresh(ctx.now(), ctx);
  const key = keyring.current(ctx.now());
  await ctx.sql(LIVES, [key.kid, seconds]);
  return key;
}
