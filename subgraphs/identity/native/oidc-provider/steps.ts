import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { databaseProblem } from '../../../../runtime/data/transaction.js';
import { loggedError } from '../../../../runtime/observe/log.js';
import { Problem } from '../../../../runtime/request/errors.js';
import { takeLimit } from '../../commands/count-limit.js';
import { withPrefix } from '../../ports/claims.js';
import { inspectedToken, introspectionOf } from '../../ports/inspection.js';
import { OAUTH_METADATA, OPENID_METADATA, PAGES, PATHS } from '../../rules/endpoints.js';
import { Pages } from '../pages/pages.js';
import { honestDiscovery } from './engine.js';
import type { IssuedTokens } from './issued.js';
import type { EngineStore } from './model.js';
import { type EngineRequest, stateOf } from './state.js';

type Next = () => Promise<unknown>;
type Step = (ctx: KoaContextWithOIDC, next: Next) => Promise<void>;

/** Key sets and metadata may be kept for five minutes; a new key is published a day before it signs. */
const CACHEABLE = 'public, max-age=300';

const bodyOf = (ctx: KoaContextWithOIDC): Record<string, unknown> => ctx.body as Record<string, unknown>;

/** Our prefix on the access token, and what has to be remembered of it before the client has it. */
const tokenStep =
  (issued: IssuedTokens): Step =>
  async (ctx, next) => {
    await next();
    if (ctx.status !== 200) return;
    const { issued: token } = stateOf(ctx);
    bodyOf(ctx).access_token = withPrefix(token ? 'service' : 'user', String(bodyOf(ctx).access_token));
    if (token) await issued.note(token);
  };

/** The claims as they were issued; the engine leaves out some. */
const introspectionStep: Step = async (ctx, next) => {
  await next();
  const claims = inspectedToken(ctx.req);
  if (ctx.status === 200 && claims && bodyOf(ctx).active === true) ctx.body = introspectionOf(claims);
};

const jwksStep: Step = async (ctx, next) => {
  await next();
  if (ctx.status === 200) ctx.set('Cache-Control', CACHEABLE);
};

const discoveryStep: Step = async (ctx, next) => {
  await next();
  if (ctx.status !== 200) return;
  ctx.body = honestDiscovery(bodyOf(ctx));
  ctx.set('Cache-Control', CACHEABLE);
};

/** A failed client authentication is counted, per client and address. */
const countingStep =
  ({ registrations }: EngineStore): Step =>
  async (ctx, next) => {
    await next();
    const { attempt } = stateOf(ctx);
    if (ctx.status === 401 && attempt) await registrations.fail(attempt, Date.now());
  };

/** What cannot be sent back to an app is shown to the person. */
const refusalStep =
  (pages: Pages): Step =>
  async (ctx, next) => {
    await next();
    if (!ctx.path.startsWith(PATHS.authorization)) return;
    ctx.set('Referrer-Policy', 'no-referrer');
    if (ctx.status >= 400) await pages.refuse(ctx, bodyOf(ctx) as { error: string });
  };

/** A failure of ours: logged, and answered as temporary when it is. The engine has already answered `server_error`. */
function explainFailure({ host }: EngineStore, ctx: KoaContextWithOIDC, error: Error): void {
  const problem = databaseProblem(error);
  host.log.error({ err: loggedError(error), path: ctx.path }, 'an OAuth endpoint failed');
  if (!(problem instanceof Problem) || problem.code !== 'unavailable') return;
  ctx.status = 503;
  ctx.set('Retry-After', '1');
  ctx.body = { error: 'temporarily_unavailable', error_description: 'the service cannot do this right now' };
}

/** So many authorization requests from an address. Source: identity 4.16. */
const limitStep =
  ({ host }: EngineStore, pages: Pages): Step =>
  async (ctx, next) => {
    if (ctx.path !== PATHS.authorization) return void (await next());
    const { clientAddress } = ctx.req as EngineRequest;
    const seconds = await host.transaction(tx => takeLimit(tx, 'authorize_per_ip', clientAddress));
    if (seconds === null) await next();
    else await pages.hold(ctx, seconds);
  };

/** Puts our steps around the engine's routes. */
export function addSteps(provider: Provider, store: EngineStore, issued: IssuedTokens): void {
  const steps: Record<string, Step> = {
    [PATHS.token]: tokenStep(issued),
    [PATHS.introspection]: introspectionStep,
    [PATHS.jwks]: jwksStep,
    [OPENID_METADATA]: discoveryStep,
    [OAUTH_METADATA]: discoveryStep,
  };
  const pages = new Pages(store, provider);
  provider.use((ctx, next) => (ctx.path.startsWith(`${PAGES}/`) ? pages.answer(ctx as KoaContextWithOIDC) : next()));
  provider.use((ctx, next) => limitStep(store, pages)(ctx as KoaContextWithOIDC, next));
  provider.use((ctx, next) => refusalStep(pages)(ctx as KoaContextWithOIDC, next));
  provider.use((ctx, next) => countingStep(store)(ctx as KoaContextWithOIDC, next));
  provider.use((ctx, next) => (steps[ctx.path] ?? ((_ctx, go) => go()))(ctx as KoaContextWithOIDC, next));
  provider.on('server_error', (ctx, error) => explainFailure(store, ctx as KoaContextWithOIDC, error as Error));
}
