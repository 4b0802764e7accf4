import { serviceTokenIssued } from '../../../../events/catalogue/identity.js';
import type { ServiceHost } from '../../../../runtime/request/context.js';
import { loggedError } from '../../../../runtime/observe/log.js';
import { type Caller, systemCaller } from '../../../../runtime/request/caller.js';
import { internalRequest } from '../../../../runtime/request/request.js';
import { HOUR_MS } from '../../../../runtime/time/durations.js';

/** (client, secret, scope set) whose event of the running hour is known to be out. */
const KNOWN = 10_000;
const FLUSH_MS = 2_000;

/** An OAuth client at the protocol endpoints, for audit rows and events. */
export const asClient = (clientId: string): Caller => ({ ...systemCaller('identity'), kind: 'service', clientId, serviceSlug: null });

export interface IssuedToken {
  id: string;
  clientId: string;
  secretId: string;
  scopes: readonly string[];
  /** Epoch seconds. */
  issuedAt: number;
  expiresAt: number;
}

/** What has to be remembered of service tokens, with as few statements as can be: an event an hour, and when a secret was last used. */
export class IssuedTokens {
  readonly #hours = new Map<string, number>();
  readonly #used = new Map<string, { client_id: string; at: string }>();
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly host: ServiceHost) {
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Emits identity.service_token.issued.v1 for the first token per (client, secret, scope set) in each clock hour. */
  async note(token: IssuedToken): Promise<void> {
    this.#used.set(token.secretId, { client_id: token.clientId, at: new Date(token.issuedAt * 1000).toISOString() });
    const hour = Math.floor((token.issuedAt * 1000) / HOUR_MS);
    const key = [token.clientId, token.secretId, ...token.scopes].join(' ');
    if (this.#hours.get(key) === hour) return;
    await this.#announce(token, new Date(hour * HOUR_MS));
    if (this.#hours.size >= KNOWN) this.#hours.delete(this.#hours.keys().next().value!);
    this.#hours.set(key, hour);
  }

  /** The unique row decides among processes which token is the first. */
  async #announce({ id, clientId, secretId, scopes, expiresAt }: IssuedToken, hour: Date): Promise<void> {
    const row = [clientId, secretId, scopes.join(' '), hour.toISOString(), id];
    const data = { token_id: id, client_id: clientId, scopes: [...scopes], expires_at: new Date(expiresAt * 1000).toISOString() };
    await this.host.transaction(
      async ctx => {
        const [first] = await ctx.sql(FIRST, row);
        if (first) ctx.emit(serviceTokenIssued, data, { subject: `client:${clientId}` });
      },
      internalRequest(asClient(clientId)),
    );
  }

  /** Writes down when secrets and clients were last used. A failure loses nothing but a time of use. */
  async flush(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = [...this.#used].map(([secret_id, { client_id, at }]) => ({ secret_id, client_id, at }));
    this.#used.clear();
    await this.host.transaction(ctx => ctx.sql(LAST_USED, [JSON.stringify(used)])).catch(error => this.#warn(error as Error));
  }

  #warn(error: Error): void {
    this.host.log.warn({ err: loggedError(error) }, 'times of use could not be written');
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}

const FIRST = `
insert into identity.service_token_hour (client_id, secret_id, scopes, hour, token_id) values ($1, $2, $3, $4, $5)
on conflict do nothing returning token_id`;

const LAST_USED = `
with used as (select * from jsonb_to_recordset($1::jsonb) as (secret_id uuid, client_id text, at timestamptz)),
secrets as (update identity.oauth_client_secret s set last_used_at = greatest(s.last_used_at, used.at) from used where s.id = used.secret_id)
update identity.oauth_client c set last_used_at = greatest(c.last_used_at, u.at)
from (select client_id, max(at) as at from used group by client_id) u where c.id = u.client_id`;
