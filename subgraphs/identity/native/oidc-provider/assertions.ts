import { type AdapterPayload, type Client, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { sha256 } from '../../../../runtime/data/crypto.js';
import { guardedFetch } from '../../../../runtime/http/guarded-fetch.js';
import { outsideEngine } from '../../ports/clock.js';
import { egressNetworks } from '../../ports/egress.js';
import { type ClientKey, keyIdOf, MAX_ASSERTION_SECONDS } from '../../rules/client-keys.js';
import { type EngineStore, ModelAdapter } from './model.js';
import { stateOf } from './state.js';

interface Keys {
  selectForVerify(wanted: { alg?: string; kid?: string }): ClientKey[];
}

interface Header {
  alg?: string;
  kid?: string;
}

/** Notes the key that a verified assertion was signed with; its tokens die with it. @throws InvalidClientAuth */
export async function noteAssertion(ctx: KoaContextWithOIDC, claims: object, header: Header, client: Client): Promise<void> {
  const { exp } = claims as { exp: number };
  if (exp > Date.now() / 1000 + MAX_ASSERTION_SECONDS)
    throw new errors.InvalidClientAuth(`the assertion must expire within ${MAX_ASSERTION_SECONDS} seconds`);
  const keys = (client as Client & { asymmetricKeyStore: Keys }).asymmetricKeyStore.selectForVerify(header);
  if (keys.length !== 1) throw new errors.InvalidClientAuth('the assertion must name its key by kid');
  stateOf(ctx).secretId = keyIdOf(client.clientId, keys[0]!);
}

/** A key set is small and near. */
const FETCH = { deadlineMs: 2_500, maxBytes: 64 * 1024, redirects: 0, accept: 'application/json' } as const;

/** Keys of a client from the address that it has named; the engine keeps them for a minute. @throws FetchRefused */
export async function fetchKeys({ host }: EngineStore, url: string): Promise<Response> {
  const keys = await outsideEngine(() => guardedFetch(url, { ...FETCH, allowed: egressNetworks(host.config) }));
  return new Response(new Uint8Array(keys), { headers: { 'content-type': 'application/json' } });
}

/** What has run out may be taken again: the assertion that it stands for has, too. */
const TAKE = `
insert into identity.oauth_artifact as a (model, id_hash, payload, created_at, expires_at) values ('ReplayDetection', $1, '{}', $2, $3)
on conflict (model, id_hash) do update set created_at = excluded.created_at, expires_at = excluded.expires_at where a.expires_at <= $2
returning 1 as taken`;

/** Assertions that were used. One statement takes each, so that of two at once one wins. */
export class ReplayAdapter extends ModelAdapter {
  async find(): Promise<undefined> {
    return undefined;
  }

  override async upsert(id: string, _payload: AdapterPayload, expiresIn: number): Promise<void> {
    const now = Date.now();
    const times = [now, now + expiresIn * 1000].map(ms => new Date(ms).toISOString());
    const [taken] = await this.store.sql(TAKE, [sha256(id), ...times]);
    if (!taken) throw new errors.InvalidClientAuth('client assertion tokens must only be used once');
  }
}
