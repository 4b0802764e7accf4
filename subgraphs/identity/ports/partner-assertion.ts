import { compactVerify, createLocalJWKSet, errors, type JSONWebKeySet } from 'jose';
import type { Config } from '../../../runtime/config.js';
import { guardedFetch } from '../../../runtime/http/guarded-fetch.js';
import { type Claims, SSO_ALGORITHMS } from '../rules/sso.js';
import { egressNetworks } from './egress.js';

/** The partner's key set cannot be had now. */
export class KeysUnavailable extends Error {
  override name = 'KeysUnavailable';
}

/** The assertion is not one that the partner has signed. The message names what is wrong, never what was sent. */
export class BadSignature extends Error {
  override name = 'BadSignature';
}

/** A fetched set is used for so long, and not fetched again sooner, whatever key an assertion names; ms. */
const FRESH_MS = 300_000;
const COOLDOWN_MS = 30_000;
const FETCH = { deadlineMs: 5_000, maxBytes: 256 * 1024, redirects: 1, accept: 'application/jwk-set+json, application/json' };

interface Held {
  keys: Promise<JSONWebKeySet>;
  at: number;
}

const held = new Map<string, Held>();

async function fetchKeys(url: string, config: Config): Promise<JSONWebKeySet> {
  try {
    const keys = JSON.parse((await guardedFetch(url, { ...FETCH, allowed: egressNetworks(config) })).toString('utf8')) as JSONWebKeySet;
    createLocalJWKSet(keys);
    return keys;
  } catch (cause) {
    throw new KeysUnavailable("the partner's keys cannot be fetched", { cause });
  }
}

/** The set at an address; `again`: a key is missing in the one that is held. A failure is not held. */
function keysAt(url: string, config: Config, again: boolean): Promise<JSONWebKeySet> {
  const known = held.get(url);
  const age = known ? performance.now() - known.at : Infinity;
  if (known && age < (again ? COOLDOWN_MS : FRESH_MS)) return known.keys;
  const keys = fetchKeys(url, config);
  held.set(url, { keys, at: performance.now() });
  keys.catch(() => held.delete(url));
  return keys;
}

async function verify(assertion: string, keys: JSONWebKeySet): Promise<Claims> {
  const { payload } = await compactVerify(assertion, createLocalJWKSet(keys), { algorithms: [...SSO_ALGORITHMS] });
  const claims: unknown = JSON.parse(Buffer.from(payload).toString('utf8'));
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) throw new BadSignature('the payload is no object');
  return claims as Claims;
}

export interface PartnerKeys {
  jwks: Record<string, unknown> | null;
  jwksUri: string | null;
}

/** The claims of an assertion that the partner has signed; the claims themselves are not judged. @throws BadSignature, KeysUnavailable. */
export async function signedClaims(assertion: string, { jwks, jwksUri }: PartnerKeys, config: Config): Promise<Claims> {
  try {
    if (jwks) return await verify(assertion, jwks as unknown as JSONWebKeySet);
    try {
      return await verify(assertion, await keysAt(jwksUri!, config, false));
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      return await verify(assertion, await keysAt(jwksUri!, config, true)); // the partner may have a new key
    }
  } catch (error) {
    if (error instanceof BadSignature || error instanceof KeysUnavailable) throw error;
    throw new BadSignature('it is not signed by a key of the partner', { cause: error });
  }
}
