import { request as httpRequest } from 'undici';
import type { Slug } from '../../events/slugs.js';
import type { TokenVerifier } from '../../runtime/access/token.js';
import type { Config } from '../../runtime/config.js';
import type { CallOptions, Federation, StoredDocument } from '../../runtime/federation/federation.js';
import { problemOf } from '../../runtime/http/server.js';
import { Problem } from '../../runtime/request/errors.js';
import { internalRequest } from '../../runtime/request/request.js';
import { keyOf, type Executor } from '../plans/executor.js';
import type { InternalTokens } from './internal-tokens.js';

/** Deadline of a call to the gateway, ms. */
const CALL_MS = 10_000;

interface FederationSetting {
  config: Config;
  tokens: InternalTokens;
  verifier: TokenVerifier;
  /** The gateway's executor, in a process with the gateway role. */
  executor(): Executor;
}

/** The federation as a service calls it: in process with the gateway role, else over HTTP. @throws Error when it is nowhere. */
export function federationOf(slug: Slug, { config, tokens, verifier, executor }: FederationSetting): Federation {
  if (config.roles.has('gateway')) return localFederation(slug, tokens, verifier, executor);
  if (!config.gatewayUrl) throw new Error('GATEWAY_URL is not set, and this process has no gateway role');
  return remoteFederation(slug, tokens, config.gatewayUrl);
}

/** Runs operations as the service's internal client on the gateway of this process. */
function localFederation(slug: Slug, tokens: InternalTokens, verifier: TokenVerifier, executor: () => Executor): Federation {
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

/** Runs operations as the service's internal client on the gateway at `GATEWAY_URL`. */
function remoteFederation(slug: Slug, tokens: InternalTokens, gatewayUrl: string): Federation {
  return {
    async run<Data>({ source }: StoredDocument, variables = {}, { idempotencyKey }: CallOptions = {}): Promise<Data> {
      const token = await tokens.get(slug);
      const headers = { authorization: `Bearer ${token}`, ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) };
      const { data, errors } = await postGraphql(gatewayUrl, headers, { query: source, variables });
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

async function postGraphql(gatewayUrl: string, headers: Record<string, string>, body: object): Promise<GraphqlBody> {
  try {
    const answer = await httpRequest(`${gatewayUrl}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_MS),
    });
    return (await answer.body.json()) as GraphqlBody;
  } catch (cause) {
    throw new Problem('unavailable', 'the gateway cannot be reached right now', { retryAfter: 1, cause });
  }
}
