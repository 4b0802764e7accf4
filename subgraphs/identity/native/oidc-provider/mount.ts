import type { SqlEntityManager } from '@mikro-orm/postgresql';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addressKey } from '../../../../runtime/access/rate-limit.js';
import { sqlOf } from '../../../../runtime/data/database.js';
import { databaseProblem } from '../../../../runtime/data/transaction.js';
import type { ServiceHost } from '../../../../runtime/request/context.js';
import { loggedError } from '../../../../runtime/observe/log.js';
import { Problem } from '../../../../runtime/request/errors.js';
import { plugin } from '../../../../runtime/http/plugin.js';
import { verifyToken } from '../../ports/claims.js';
import { atEngineTime, installEngineClock, systemTime } from '../../ports/clock.js';
import { translateToken } from '../../ports/inspection.js';
import { keyringOf } from '../../ports/keyring.js';
import { countryOf } from '../../rules/devices.js';
import { EXCHANGE, OAUTH_METADATA, OPENID_METADATA, PAGES, PATHS } from '../../rules/endpoints.js';
import { EngineBuilder } from './engine.js';
import { IssuedTokens } from './issued.js';
import type { EngineStore } from './model.js';
import { authorizationQuery } from './policy.js';
import { GRANT_TYPES, Registrations } from './registration.js';
import type { EngineRequest } from './state.js';
import { addSteps } from './steps.js';

type Method = 'GET' | 'POST' | 'OPTIONS';
type Handle = (request: EngineRequest, response: FastifyReply['raw']) => Promise<void>;

/** Exact paths only: an unknown one is the gateway's 404, not the engine's. */
const ROUTES: readonly (readonly [methods: readonly Method[], path: string])[] = [
  [['POST', 'OPTIONS'], PATHS.token],
  [['POST', 'OPTIONS'], EXCHANGE],
  [['POST', 'OPTIONS'], PATHS.introspection],
  [['POST', 'OPTIONS'], PATHS.revocation],
  [['GET'], PATHS.authorization],
  [['GET'], `${PATHS.authorization}/:uid`],
  [['GET'], `${PAGES}/interactions/:uid`],
  [['GET', 'POST'], `${PAGES}/interactions/:uid/:step`],
  [['GET', 'POST'], `${PAGES}/magic/:token`],
  [['GET', 'POST'], `${PAGES}/email-undo/:token`],
  [['GET', 'POST'], `${PAGES}/sso/:ticket`],
  [['GET', 'POST'], `${PAGES}/sign-out`],
  [['GET', 'POST'], `${PAGES}/connected-apps`],
  [['GET', 'POST'], `${PAGES}/staff-invitations/:token`],
  [['GET'], `${PAGES}/style.css`],
  [['GET'], `${PAGES}/icon.svg`],
  [['GET', 'OPTIONS'], PATHS.jwks],
  [['GET', 'OPTIONS'], OPENID_METADATA],
  [['GET', 'OPTIONS'], OAUTH_METADATA],
];

/** Paths that present a token in their form. */
const INSPECTING: readonly string[] = [PATHS.introspection, PATHS.revocation];

/** The OAuth engine of this process, rebuilt when the published keys change. Everything it knows is in the database. */
class MountedEngine {
  readonly #store: EngineStore;
  readonly #issued: IssuedTokens;
  readonly #path: string;
  /** As if the request had come to the issuer. */
  readonly #headers: Readonly<Record<string, string>>;
  #kids = '';
  #readings = 0;
  #handle: Handle;

  constructor(private readonly host: ServiceHost) {
    const sql = sqlOf(host.orm.em.fork() as SqlEntityManager);
    this.#store = { host, sql, registrations: new Registrations(sql), offered: GRANT_TYPES };
    this.#issued = new IssuedTokens(host);
    const { host: name, protocol, pathname } = new URL(host.config.issuer);
    this.#path = pathname.replace(/\/$/, '');
    this.#headers = { host: name, 'x-forwarded-proto': protocol.slice(0, -1) };
  }

  /** Reads the keys, making the first one; the engine exists afterwards. */
  async prepare(now: Date): Promise<Handle> {
    const keyring = keyringOf(this.host);
    await keyring.refresh(now);
    if (keyring.readings === this.#readings) return this.#handle;
    this.#readings = keyring.readings;
    const keys = keyring.published(now);
    const kids = keys.map(key => key.kid).join(' ');
    if (kids === this.#kids) return this.#handle;
    const provider = new EngineBuilder(this.#store, keyring).build(keys);
    addSteps(provider, this.#store, this.#issued);
    this.#kids = kids;
    return (this.#handle = provider.callback() as unknown as Handle);
  }

  async #now(): Promise<Date | null> {
    return this.host.config.manualClock ? this.host.read(async ctx => ctx.now()) : null;
  }

  /** Answers one request on the raw response. */
  async answer(path: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      const manual = await this.#now();
      await atEngineTime(manual, async () => this.#run(path, request, reply, manual ?? new Date(systemTime())));
    } catch (error) {
      this.#fail(reply, error as Error);
    }
  }

  async #run(path: string, request: FastifyRequest, reply: FastifyReply, now: Date): Promise<void> {
    const handle = await this.prepare(now);
    const raw = this.#canonical(path, request);
    const verify = (token: string) => verifyToken(token, keyringOf(this.host), this.host.config, now);
    const inspects = INSPECTING.includes(path) && raw.method === 'POST';
    await handle((inspects ? await translateToken(raw, verify) : raw) as EngineRequest, reply.raw);
  }

  /** As if the request had come to the issuer, whatever address and forwarded headers it bore. Source: identity A1. */
  #canonical(path: string, request: FastifyRequest): EngineRequest {
    const raw = request.raw as EngineRequest;
    const query = queryOf(raw);
    for (const name of ['x-forwarded-host', 'x-forwarded-prefix', 'forwarded']) delete raw.headers[name];
    Object.assign(raw.headers, this.#headers);
    const known = path === EXCHANGE ? PATHS.token : path;
    raw.url = `${known}${path === PATHS.authorization ? authorizationQuery(query) : query}`;
    raw.originalUrl = `${this.#path}${raw.url}`;
    raw.clientAddress = addressKey(request.info.ip ?? '');
    const header = this.host.config.setting('IDENTITY_COUNTRY_HEADER')?.toLowerCase();
    raw.countryCode = header ? countryOf(String(request.headers[header] ?? '').toUpperCase()) : null;
    return raw;
  }

  #fail(reply: FastifyReply, error: Error): void {
    const problem = databaseProblem(error);
    const temporary = problem instanceof Problem && problem.code === 'unavailable';
    this.host.log.error({ err: loggedError(error) }, 'the OAuth engine failed');
    if (reply.raw.headersSent) return void reply.raw.destroy();
    reply.raw.writeHead(temporary ? 503 : 500, { 'content-type': 'application/json', ...(temporary && { 'retry-after': '1' }) });
    reply.raw.end(JSON.stringify({ error: temporary ? 'temporarily_unavailable' : 'server_error' }));
  }

  stop(): Promise<void> {
    return this.#issued.stop();
  }
}

const queryOf = ({ url }: { url?: string }): string => (url!.includes('?') ? url!.slice(url!.indexOf('?')) : '');

/** The path that the engine knows: what follows our prefix. */
function enginePath(pattern: string, request: FastifyRequest): string {
  if (!pattern.includes(':')) return pattern;
  const params = request.params as Record<string, string>;
  return pattern.replace(/:(\w+)/g, (_all, name: string) => encodeURIComponent(params[name]!));
}

/** Headers of the house that a hijacked answer would lack. */
function keepHeaders(request: FastifyRequest, reply: FastifyReply): void {
  const headers = { 'x-request-id': request.info.id, 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
  for (const [name, value] of Object.entries(headers)) reply.raw.setHeader(name, value);
}

/** Cookies are set at the canonical address only, so an authorization begins there. Source: identity A1. */
const isForeign = (issuer: string, request: FastifyRequest): boolean => (request.headers.host ?? '').toLowerCase() !== new URL(issuer).host;

/** Hands a request over to the engine, which answers on the raw response. */
const handlerOf =
  (engine: MountedEngine, issuer: string, path: string) =>
  (request: FastifyRequest, reply: FastifyReply): FastifyReply | void => {
    if (path === PATHS.authorization && isForeign(issuer, request)) return reply.redirect(`${issuer}${path}${queryOf(request.raw)}`, 302);
    keepHeaders(request, reply);
    reply.hijack();
    void engine.answer(enginePath(path, request), request, reply);
  };

/** Serves the OAuth endpoints below `/identity`, and the metadata at the issuer's origin (RFC 8414) when the issuer has a path. */
export async function mountEngine(app: FastifyInstance, host: ServiceHost): Promise<void> {
  const { issuer, manualClock } = host.config;
  if (manualClock) installEngineClock();
  const engine = new MountedEngine(host);
  await engine.prepare(await host.read(async ctx => ctx.now()));
  await app.register(
    plugin('oidc-provider', async scope => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null)); // the engine reads the body itself
      const serve = (methods: readonly Method[], url: string, path: string) =>
        scope.route({ method: [...methods], url, handler: handlerOf(engine, issuer, path) });
      for (const [methods, path] of ROUTES) serve(methods, `/identity${path}`, path);
      const issuerPath = new URL(issuer).pathname.replace(/\/$/, '');
      if (issuerPath) serve(['GET', 'OPTIONS'], `${OAUTH_METADATA}${issuerPath}`, OAUTH_METADATA);
      scope.addHook('onClose', () => engine.stop());
    }),
  );
}
