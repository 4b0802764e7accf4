import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { ANONYMOUS } from '../../../runtime/request/caller.js';
import { Problem } from '../../../runtime/request/errors.js';
import { internalRequest } from '../../../runtime/request/request.js';
import { ensureAtProcessor } from '../commands/customer.js';
import {
  attachRefusal,
  callAttach,
  callDetach,
  completeMethod,
  detachMethod,
  draftMethod,
  makeDefault,
} from '../commands/payment-method.js';
import { enteredPortal, enterPortal } from '../commands/portal.js';
import { endLater } from '../commands/subscription-end.js';
import { lockSubscription } from '../commands/subscription-state.js';
import { lockRow } from '../../../runtime/data/rows.js';
import { plugin } from '../../../runtime/http/plugin.js';
import { BillingCustomer } from '../entities/customer.js';
import { PortalFlow } from '../entities/enums-offers.js';
import { PaymentMethod } from '../entities/payment-method.js';
import type { PortalSession } from '../entities/portal-session.js';
import { hasOwnPages, portalElsewhere } from '../ports/hosted-elsewhere.js';
import { METHODS } from '../ports/sandbox/methods.js';
import { portalContent, type PortalContent } from '../queries/portal.js';
import { formOf, isOwnForm, send, takeForms, type Answer } from './pages/answer.js';
import { nowherePage, portalPage } from './pages/portal-views.js';
import { testMethods } from './pay-page.js';

const PATH = '/payments/portal/:token';
const NOWHERE: Answer = { page: nowherePage, status: 404 };
const COOKIE = 'portal';

type PageRequest = FastifyRequest<{ Params: { token: string } }>;

const addressOf = ({ params: { token } }: PageRequest): string => `/payments/portal/${encodeURIComponent(token)}`;

/** The secret of a browser that was let in. It is sent to this address alone, and to no script. */
function cookieOf(host: ServiceHost, request: PageRequest, secret: string, { expiresAt, createdAt }: PortalSession): string {
  const seconds = Math.ceil((expiresAt.getTime() - createdAt.getTime()) / 1000);
  const secure = host.config.baseUrl.startsWith('https:') ? '; Secure' : '';
  return `${COOKIE}=${secret}; Path=${addressOf(request)}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

const secretIn = ({ headers: { cookie = '' } }: PageRequest): string | null =>
  new RegExp(`(?:^|; )${COOKIE}=([\\w-]{43})(?:;|$)`).exec(cookie)?.[1] ?? null;

/** Acts as the customer: rows of others are not found, and the audit names who did it. */
const asCustomer = <T>(host: ServiceHost, { userId }: PortalSession, work: (ctx: Context) => Promise<T>): Promise<T> =>
  host.transaction(
    work,
    internalRequest({ ...ANONYMOUS, kind: 'user', clientId: 'portal', userId, scopes: new Set(['manage:subscriptions']) }),
  );

/** What a flow shows; home shows all. */
const SHOWN: Readonly<Record<PortalFlow, readonly (keyof PortalContent)[]>> = {
  [PortalFlow.HOME]: ['methods', 'subscriptions', 'invoices'],
  [PortalFlow.PAYMENT_METHOD_UPDATE]: ['methods'],
  [PortalFlow.SUBSCRIPTION_CANCEL]: ['subscriptions'],
  [PortalFlow.INVOICE_HISTORY]: ['invoices'],
};

async function show(host: ServiceHost, session: PortalSession, error: string | null = null): Promise<Answer> {
  const content = await host.read(ctx => portalContent(ctx, session.customerId));
  const shown = SHOWN[session.flow];
  const part = <Name extends keyof PortalContent>(name: Name): PortalContent[Name] | null => (shown.includes(name) ? content[name] : null);
  const page = portalPage({
    returnUrl: session.returnUrl,
    error,
    methods: part('methods'),
    tests: testMethods(host),
    subscriptions: part('subscriptions'),
    invoices: part('invoices'),
  });
  return { page, leadsTo: [session.returnUrl], ...(error && { status: 409 }) };
}

type Act = (host: ServiceHost, session: PortalSession, form: URLSearchParams) => Promise<Problem | null>;

const attach: Act = async (host, session, form) => {
  const token = (form.get('token') ?? '').replace(/^token:/, '');
  if (hasOwnPages(host) || !Object.hasOwn(METHODS, token)) return new Problem('invalid_request', 'Choose a method.');
  const drafted = await asCustomer(host, session, async ctx =>
    draftMethod(ctx, await lockRow(ctx, BillingCustomer, { id: session.customerId }), token),
  );
  const result = await callAttach(host, drafted);
  if (result.status !== 'succeeded') return attachRefusal(result);
  await asCustomer(host, session, ctx => completeMethod(ctx, drafted.id, result.data, false));
  return null;
};

const makeUsual: Act = async (host, session, form) => {
  await asCustomer(host, session, async ctx => {
    await lockRow(ctx, BillingCustomer, { id: session.customerId });
    await makeDefault(ctx, await lockRow(ctx, PaymentMethod, { id: form.get('id') ?? '', userId: session.userId }));
  });
  return null;
};

const detach: Act = async (host, session, form) => {
  const method = await asCustomer(host, session, ctx => detachMethod(ctx, { id: form.get('id') ?? '', userId: session.userId }));
  await callDetach(host, method.id);
  return null;
};

const endSubscription: Act = async (host, session, form) => {
  await asCustomer(host, session, async ctx => {
    const subscription = await lockSubscription(ctx, { id: form.get('id') ?? '', userId: session.userId });
    await endLater(ctx, subscription, 'member_request');
  });
  return null;
};

const ACTS: Readonly<Record<string, Act>> = { attach, default: makeUsual, detach, cancel: endSubscription };

async function act(host: ServiceHost, request: PageRequest, session: PortalSession): Promise<Answer> {
  const form = formOf(request);
  const work = ACTS[form.get('act') ?? ''];
  if (!work) return show(host, session, 'Choose what is to be done.');
  const refused = await work(host, session, form).catch((error: unknown) =>
    error instanceof Problem && error.status < 500 ? error : Promise.reject(error as Error),
  );
  return refused ? show(host, session, refused.message) : { redirect: `${host.config.baseUrl}${addressOf(request)}` };
}

/** A browser that comes first is let in; with the processor's own pages it is led there. */
async function enter(host: ServiceHost, request: PageRequest): Promise<Answer> {
  const entered = await host.transaction(ctx => enterPortal(ctx, request.params.token));
  if (!entered) return NOWHERE;
  const { session, secret } = entered;
  if (hasOwnPages(host)) {
    const { id: sessionId, returnUrl } = session;
    const customerId = await ensureAtProcessor(host, session.customerId);
    const elsewhere = await portalElsewhere(host, {
      sessionId,
      customerId,
      pageUrl: `${host.config.baseUrl}${addressOf(request)}`,
      returnUrl,
    });
    return elsewhere ? { redirect: elsewhere } : { redirect: returnUrl };
  }
  const answer = await show(host, session);
  return { ...answer, cookie: cookieOf(host, request, secret, session) } as Answer;
}

async function known(host: ServiceHost, request: PageRequest): Promise<PortalSession | null> {
  const secret = secretIn(request);
  return secret === null ? null : host.read(ctx => enteredPortal(ctx, request.params.token, secret));
}

/** The billing pages of a customer; an address lets one browser in. Source: payments 3.7, 7.14. */
export async function mountPortalPage(app: FastifyInstance, host: ServiceHost): Promise<void> {
  await app.register(
    plugin('payments portal', async scope => {
      takeForms(scope);
      scope.get(PATH, async (request: PageRequest, reply) => {
        const session = await known(host, request);
        return send(reply, host, session ? await show(host, session) : await enter(host, request));
      });
      scope.post(PATH, async (request: PageRequest, reply) => {
        const session = isOwnForm(request, host) ? await known(host, request) : null;
        return send(reply, host, session ? await act(host, request, session) : NOWHERE);
      });
    }),
  );
}
