import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { STYLE } from '../../../runtime/http/page-style.js';
import type { Money } from '../../../runtime/schema/scalars.js';
import { plugin } from '../../../runtime/http/plugin.js';
import { ensureAtProcessor } from '../commands/customer.js';
import { answerAuthentication, hostedOf, payHosted, readAgain, stateOf, type Chosen, type Hosted } from '../commands/hosted-page.js';
import { CheckoutMode } from '../entities/enums-payment.js';
import { brandTerms } from '../ports/brand-terms.js';
import { checkoutElsewhere, hasOwnPages } from '../ports/hosted-elsewhere.js';
import { METHODS } from '../ports/sandbox/methods.js';
import { methodsOfCustomer } from '../queries/payment-method.js';
import { methodSummary } from '../rules/payment-method.js';
import { formOf, isOwnForm, send, takeForms, type Answer } from './pages/answer.js';
import { STYLE_PATH } from './pages/layout.js';
import { authenticationPage, donePage, nothingPage, payPage, processingPage, type Choice, type PayView } from './pages/pay-views.js';

const PATH = '/payments/pay/:token';
const NOTHING: Answer = { page: nothingPage, status: 404 };

type PageRequest = FastifyRequest<{ Params: { token: string } }>;

/** Who sells; the name may be missing while platform does not answer. */
const sellerOf = async (host: ServiceHost, brandId: string | null): Promise<string> =>
  brandId === null
    ? 'the shop'
    : brandTerms(host, brandId).then(
        ({ legalName }) => legalName,
        () => 'the shop',
      );

const brandOf = ({ session, payment }: Hosted): string | null => session?.brandId ?? payment?.brandId ?? null;
const returnOf = ({ session }: Hosted): string | null => session?.returnUrl ?? null;
const cancelOf = (hosted: Hosted): string | null => (hosted.kind === 'checkout' ? hosted.session.cancelUrl : null);
const isSetup = (hosted: Hosted): boolean => hosted.kind === 'checkout' && hosted.session.mode === CheckoutMode.SETUP;
const totalOf = ({ session, payment }: Hosted): Money => session?.amounts.total ?? payment!.amount;

/** The sandbox's named methods. */
const TESTS: readonly Choice[] = Object.entries(METHODS).map(([token, { brand, last4 }]) => ({
  value: `token:${token}`,
  label: `${token} (${brand} •${last4})`,
}));

export const testMethods = (host: ServiceHost): readonly Choice[] => (hasOwnPages(host) ? [] : TESTS);

async function savedOf(ctx: Context, customerId: string): Promise<Choice[]> {
  return (await methodsOfCustomer(ctx, customerId)).map(method => ({
    value: `saved:${method.id}`,
    label: methodSummary(method) ?? 'A method',
  }));
}

const itemsOf = (hosted: Hosted): PayView['items'] =>
  hosted.kind === 'checkout'
    ? hosted.session.lines.map(({ description, quantity, subtotal }) => ({
        description,
        quantity,
        subtotal: { amount: subtotal, currency: hosted.session.currency },
      }))
    : [];

async function open(host: ServiceHost, hosted: Hosted, url: string, error: string | null): Promise<Answer> {
  const { session, payment } = hosted;
  if (!session) return NOTHING;
  const total = totalOf(hosted);
  const [returnUrl, cancelUrl, setup] = [returnOf(hosted), cancelOf(hosted), isSetup(hosted)];
  if (hasOwnPages(host)) {
    const customerId = await ensureAtProcessor(host, session.customerId);
    const elsewhere = await checkoutElsewhere(host, {
      sessionId: session.id,
      customerId,
      total,
      pageUrl: url,
      returnUrl: returnUrl ?? url,
      cancelUrl,
      isSetup: setup,
    });
    return elsewhere ? { redirect: elsewhere } : { page: processingPage(await sellerOf(host, brandOf(hosted)), returnUrl), status: 503 };
  }
  const lastError = hosted.kind === 'checkout' ? hosted.session.lastError : (payment?.lastError ?? null);
  const view: PayView = {
    seller: await sellerOf(host, brandOf(hosted)),
    items: itemsOf(hosted),
    amounts: session.amounts,
    total,
    saved: await host.read(ctx => savedOf(ctx, session.customerId)),
    tests: TESTS,
    cancelUrl,
    error: error ?? lastError?.message ?? null,
    isSetup: setup,
  };
  return { page: payPage(view), status: error ? 402 : 200, leadsTo: [returnUrl] };
}

/** The page of what a customer can do now. */
async function show(host: ServiceHost, hosted: Hosted, url: string, error: string | null = null): Promise<Answer> {
  const state = stateOf(hosted, await host.read(async ctx => ctx.now()));
  const returnUrl = returnOf(hosted);
  if (state === 'open') return open(host, hosted, url, error);
  const seller = await sellerOf(host, brandOf(hosted));
  if (state === 'processing') return { page: processingPage(seller, returnUrl) };
  if (state !== 'requires_action') return NOTHING;
  const nextUrl = hosted.payment?.nextActionUrl ?? null;
  if (hasOwnPages(host)) return nextUrl ? { redirect: nextUrl } : { page: processingPage(seller, returnUrl) };
  return { page: authenticationPage(seller, totalOf(hosted)), leadsTo: [returnUrl] };
}

/** After a form: back to the shop when all is done, else to the page of what comes next. */
async function next(host: ServiceHost, before: Hosted, url: string): Promise<Answer> {
  const hosted = await host.read(ctx => readAgain(ctx, before));
  const isDone = hosted.session ? stateOf(hosted, new Date(0)) === 'complete' : hosted.payment.status === 'succeeded';
  if (!isDone) return { redirect: url };
  const returnUrl = returnOf(hosted);
  return returnUrl ? { redirect: returnUrl } : { page: donePage(null, null) };
}

function chosenIn(form: URLSearchParams): Chosen | null {
  const [kind, value] = (form.get('method') ?? '').split(/:(.*)/s);
  if (kind === 'saved' && value) return { methodId: value };
  return kind === 'token' && value && Object.hasOwn(METHODS, value) ? { token: value } : null;
}

/** What went wrong, in words for a customer. */
const wordsOf = (error: unknown): string => {
  if (error instanceof Problem && error.code !== 'internal')
    return error.code === 'conflict' ? 'This purchase is being worked on. Look again in a moment.' : error.message;
  throw error;
};

async function act(host: ServiceHost, hosted: Hosted, form: URLSearchParams, url: string): Promise<Answer> {
  const state = stateOf(hosted, await host.read(async ctx => ctx.now()));
  if (state === 'requires_action' && hosted.payment && !hasOwnPages(host)) {
    await answerAuthentication(host, hosted.payment, form.get('answer') === 'complete');
    return next(host, hosted, url);
  }
  if (state !== 'open') return show(host, hosted, url);
  const chosen = hasOwnPages(host) ? null : chosenIn(form);
  if (!chosen) return show(host, hosted, url, 'Choose what is to pay.');
  const seller = await sellerOf(host, brandOf(hosted));
  const refusal = await payHosted(host, hosted, chosen, seller).then(
    problem => problem && problem.message,
    (error: unknown) => wordsOf(error),
  );
  return refusal ? show(host, await host.read(ctx => readAgain(ctx, hosted)), url, refusal) : next(host, hosted, url);
}

const found = (host: ServiceHost, { params: { token } }: PageRequest): Promise<Hosted | null> => host.read(ctx => hostedOf(ctx, token));
const urlOf = (host: ServiceHost, { params: { token } }: PageRequest): string =>
  `${host.config.baseUrl}/payments/pay/${encodeURIComponent(token)}`;

/** The page on which sessions are paid, and charges confirmed; its address proves who may. Source: payments 4.2, 7.14. */
export async function mountPayPage(app: FastifyInstance, host: ServiceHost): Promise<void> {
  await app.register(
    plugin('payments pay page', async scope => {
      takeForms(scope);
      scope.get(STYLE_PATH, (_request, reply) =>
        reply.header('cache-control', 'public, max-age=3600').type('text/css; charset=utf-8').send(STYLE),
      );
      scope.get(PATH, async (request: PageRequest, reply) => {
        const hosted = await found(host, request);
        return send(reply, host, hosted ? await show(host, hosted, urlOf(host, request)) : NOTHING);
      });
      scope.post(PATH, async (request: PageRequest, reply) => {
        const hosted = isOwnForm(request, host) ? await found(host, request) : null;
        return send(reply, host, hosted ? await act(host, hosted, formOf(request), urlOf(host, request)) : NOTHING);
      });
    }),
  );
}
