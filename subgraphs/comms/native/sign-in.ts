import { createHash, randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sameSecret } from '../../../runtime/data/crypto.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import type { Authenticate } from '../../../runtime/service.js';
import { settingsOf } from '../ports/settings.js';

/** Who reads a message: by a token of an app, or by the session of the pages. */
export interface Reader {
  userId: string;
  firstParty: boolean;
}

interface Begun {
  id: string;
  state: string;
  verifier: string;
}

/** Cookies, sealed; each with what it holds and for how long. Source: comms 4.8. */
const SIGN_IN = { name: 'comms_sign_in', minutes: 10 };
const SESSION = { name: 'comms_page', minutes: 15 };
type Kind = typeof SIGN_IN;

/** The issuer answers in a fraction of this, or the visitor is asked to try again, ms. */
const PATIENCE_MS = 5_000;

function put(host: ServiceHost, { name, minutes }: Kind, value: object): string {
  const sealed = host.sealer.seal(JSON.stringify({ ...value, until: Date.now() + minutes * 60_000 }), `cookie:${name}`);
  return cookie(host, name, sealed.toString('base64url'), minutes * 60);
}

const cookie = (host: ServiceHost, name: string, value: string, seconds: number): string =>
  `${name}=${value}; Max-Age=${seconds}; Path=/comms/m; HttpOnly; SameSite=Lax${settingsOf(host).linkBase.startsWith('https:') ? '; Secure' : ''}`;

/** What a cookie holds; null for none, one that is over, or one that is not of our making. */
function held<Held>(host: ServiceHost, { headers }: FastifyRequest, { name }: Kind): Held | null {
  const pair = (headers.cookie ?? '').split(/;\s*/).find(one => one.startsWith(`${name}=`));
  if (!pair) return null;
  try {
    const value = JSON.parse(host.sealer.open(Buffer.from(pair.slice(name.length + 1), 'base64url'), `cookie:${name}`)) as Held & {
      until: number;
    };
    return value.until > Date.now() ? value : null; // the browser's clock is not asked
  } catch {
    return null;
  }
}

export const sessionOf = (host: ServiceHost, request: FastifyRequest): Reader | null => held<Reader>(host, request, SESSION);

const redirectUri = (host: ServiceHost): string => `${settingsOf(host).linkBase}/m/callback`;

/** Sends the visitor to the sign-in of identity, by authorization code and PKCE; the state is bound to the browser. */
export function beginSignIn(host: ServiceHost, reply: FastifyReply, id: string): FastifyReply {
  const [state, verifier] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')];
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: settingsOf(host).webClientId,
    redirect_uri: redirectUri(host),
    scope: 'read:inbox',
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  return reply
    .header('set-cookie', put(host, SIGN_IN, { id, state, verifier } satisfies Begun))
    .header('cache-control', 'no-store')
    .redirect(`${host.config.issuer}/v1/oauth/authorize?${query}`, 303);
}

/** The token of a code; null where the issuer refuses it or does not answer. */
async function redeemed(host: ServiceHost, code: string, verifier: string): Promise<string | null> {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: settingsOf(host).webClientId,
    redirect_uri: redirectUri(host),
    code,
    code_verifier: verifier,
  });
  const answer = await fetch(`${host.config.issuer}/v1/oauth/token`, { method: 'POST', body, signal: AbortSignal.timeout(PATIENCE_MS) });
  return answer.ok ? ((await answer.json()) as { access_token: string }).access_token : null;
}

/** Who a token is of; null for one that does not let its owner read the inbox. */
export async function readerOf(request: FastifyRequest, authenticate: Authenticate, token?: string): Promise<Reader | null> {
  const headers = token === undefined ? request.headers : { ...request.headers, authorization: `Bearer ${token}` };
  const info = await authenticate(Object.create(request, { headers: { value: headers } }) as FastifyRequest).catch(() => null);
  const caller = info?.caller;
  const reads = caller?.kind === 'user' && caller.userId !== null && caller.scopes.has('read:inbox');
  return reads ? { userId: caller.userId!, firstParty: caller.firstParty } : null;
}

type Answer = FastifyRequest<{ Querystring: { state?: string; code?: string } }>;

/** Back from identity: the session of the pages begins. @returns null where nobody was signed in, or by another browser. */
export async function finishSignIn(
  host: ServiceHost,
  request: Answer,
  reply: FastifyReply,
  authenticate: Authenticate,
): Promise<FastifyReply | null> {
  const begun = held<Begun>(host, request, SIGN_IN);
  const { state, code } = request.query;
  if (!begun || typeof state !== 'string' || typeof code !== 'string' || !sameSecret(state, begun.state)) return null;
  const token = await redeemed(host, code, begun.verifier).catch(() => null);
  const reader = token === null ? null : await readerOf(request, authenticate, token);
  if (!reader) return null;
  return reply
    .header('set-cookie', [put(host, SESSION, reader), cookie(host, SIGN_IN.name, '', 0)])
    .header('cache-control', 'no-store')
    .redirect(`${settingsOf(host).linkBase}/m/${begun.id}`, 303);
}
