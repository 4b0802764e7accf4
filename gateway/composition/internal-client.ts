import { request as httpRequest } from 'undici';
import type { Slug } from '../../events/slugs.js';
import type { Config } from '../../runtime/config.js';
import { Problem } from '../../runtime/request/errors.js';
import type { CallOptions, Federation, StoredDocument } from '../../runtime/federation/federation.js';
import { problemOf } from '../../runtime/http/server.js';
import { internalRequest } from '../../runtime/request/request.js';
import type { TokenVerifier } from '../../runtime/access/token.js';
import { keyOf, type Executor } from '../plans/executor.js';

const CALL_MS = 10_000;
/** A token is renewed this long before it expires. */
const RENEW_MS = 60_000;

interface Held {
  token: string;
  until: number;
}

const unreachable = (what: string, cause: unknown): Problem =>
  new Problem('unavailable', `${what} cannot be reached right now`, { retryAfter: 1, cause });

/** Access tokens of the internal clients `svc-<slug>`, by client_credentials from identity's process. Source: architecture 4. */
export class InternalTokens {
  readonly #held = new Map<Slug, Promise<Held>>();

  constructor(
    private readonly config: Config,
    private readonly identityUrl: () => string,
  ) {}

  async get(slug: Slug): Promise<string> {
    const held = await this.#held.get(slug)?.catch(() => undefined);
    if (held && held.until > Date.now()) return held.token;
    const fresh = this.#fetch(slug);
    this.#held.set(slug, fresh);
    fresh.catch(() => this.#held.delete(slug));
    return (await fresh).token;
  }

  /** After a refusal: the next call fetches another. */
  forget(slug: Slug): void {
    this.#held.delete(slug);
  }

  async #fetch(slug: Slug): Promise<Held> {
    const secret = this.config.internalSecrets[slug];
    if (!secret) throw new Error(`INTERNAL_CLIENT_SECRET_${slug.toUpperCase().replaceAll('-', '_')} is not set`);
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: `svc-${slug}`, client_secret: secret }).toString();
    const { access_token: token, expires_in: seconds } = await postForm(`${this.identityUrl()}/identity/v1/oauth/token`, body);
    return { token, until: Date.now() + seconds * 1000 - RENEW_MS };
  }
}

async function postForm(url: string, body: string): Promise<{ access_token: string; expires_in: number }> {
  try {
    const answer = await httpRequest(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
      signal: AbortSignal.timeout(CALL_MS),
    });
    const parsed = (await answer.body.json()) as { access_token?: string; expires_in?: number; error?: string };
    if (!parsed.access_token) throw new Error(`identity answered ${answer.statusCode} ${parsed.error ?? ''}`);
    return { access_token: parsed.access_token, expires_in: parsed.expires_in ?? 300 };
  } catch (error) {
    throw unreachable('identity', error);
  }
}

/** The federation in this process: the operation runs as the service's own internal client. */
export function localFederation(slug: Slug, tokens: InternalTokens, verifier: TokenVerifier, executor: () => Executor): Federation {
  return {
    async run<Data>({ document, source }: StoredDocument, variables = {}, { idempotencyKey }: CallOptions = {}): Promise<Data> {
      const token = await tokens.get(slug);
      const caller = await verifier.verify(token).catch(error => (tokens.forget(slug), Promise.reject(error)));
      const result = await executor().execute(
        { document, source, key: keyOf(source), operationName: null, variables },
        { ...internalRequest(caller, undefined, token), idempotencyKey: idempotencyKey ?? null },
      );
      if (result.errors.length) throw problemOf(result.errors[0]!);
      return result.data as Data;
    },
  };
}

/** The federation in another process, at `GATEWAY_URL`. */
export function remoteFederation(slug: Slug, tokens: InternalTokens, gatewayUrl: string): Federation {
  return {
    async run<Data>({ source }: StoredDocument, variables = {}, { idempotencyKey }: CallOptions = {}): Promise<Data> {
      const token = await tokens.get(slug);
      const { data, errors } = await postGraphql(gatewayUrl, token, source, variables, idempotencyKey);
      if (errors?.[0]?.extensions?.code === 'UNAUTHENTICATED') tokens.forget(slug);
      if (errors?.length) throw problemOf(errors[0]!);
      return data as Data;
    },
  };
}

interface GraphqlBody {
  data?: unknown;
  errors?: { message: string; extensions?: Record<string, unknown> }[];
}

async function postGraphql(
  gatewayUrl: string,
  token: string,
  query: string,
  variables: object,
  idempotencyKey?: string,
): Promise<GraphqlBody> {
  try {
    const answer = await httpRequest(`${gatewayUrl}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
      },
      body: JSON.stringify({ query, variables }),
      signal: AbortSignal.timeout(CALL_MS),
    });
    return (await answer.body.json()) as GraphqlBody;
  } catch (error) {
    throw unreachable('the gateway', error);
  }
}
