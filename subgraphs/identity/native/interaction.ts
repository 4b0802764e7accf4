import type { Client, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { internalRequest } from '../../../runtime/request.js';
import { systemCaller, type Caller } from '../../../runtime/caller.js';
import { consentable, standingConsent } from '../ports/oidc-provider/authorization.js';
import { PAGES, registrationOf, type EngineRequest } from '../ports/oidc-provider/engine.js';
import type { EngineStore } from '../ports/oidc-provider/model.js';
import type { Registration } from '../ports/oidc-provider/registration.js';
import { giveConsent } from '../resolver/consent.js';
import { redirectSource } from '../rules/redirects.js';
import { endBrowserSession } from './browser-session.js';
import { checkCsrf, csrfOf, PageError, readForm } from './form.js';
import { document, pageHeaders, type Page } from './layout.js';
import { checkPassword } from './password.js';
import { consentPage, messagePage, signInPage } from './views.js';

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** A person at a page, for audit rows and events. */
export const asPerson = (userId: string, clientId: string): Caller => ({
  ...systemCaller('identity'),
  kind: 'user',
  clientId,
  userId,
  serviceSlug: null,
});

/** One step of one interaction. */
interface Turn {
  ctx: KoaContextWithOIDC;
  interaction: Interaction;
  app: Registration;
  action: string;
  csrf: string;
}

/** The pages of an authorization request: sign-in, then consent. Every step may be served by any process. Source: identity 4.1. */
export class InteractionPages {
  readonly #base: string;
  readonly #origin: string;

  constructor(
    private readonly store: EngineStore,
    private readonly provider: Provider,
    private readonly secret: string,
  ) {
    this.#base = `${store.host.config.issuer}${PAGES}`;
    this.#origin = new URL(store.host.config.issuer).origin;
  }

  /** Renders the step that is due. */
  async show(ctx: KoaContextWithOIDC, uid: string): Promise<void> {
    const turn = await this.#turn(ctx, uid);
    this.#render(turn, 200, turn.interaction.prompt.name === 'consent' ? await this.#consentStep(turn) : this.#signInStep(turn));
  }

  /** Judges a form. */
  async act(ctx: KoaContextWithOIDC, uid: string, step: string): Promise<void> {
    const turn = await this.#turn(ctx, uid);
    const form = await readForm(ctx);
    checkCsrf(ctx, form, this.secret, uid, this.#origin);
    if (step === 'abort') return this.#finish(turn, { error: 'access_denied', error_description: 'the user went back' });
    if (step === 'login' && turn.interaction.prompt.name === 'login') return this.#signIn(turn, form);
    if (step === 'consent' && turn.interaction.prompt.name === 'consent') return this.#consent(turn, form);
    throw new PageError(400, 'This step is not due', 'Go back to the app and begin again.');
  }

  async #turn(ctx: KoaContextWithOIDC, uid: string): Promise<Turn> {
    const interaction = await this.provider.interactionDetails(ctx.req, ctx.res).catch(() => null);
    const client = interaction?.uid === uid ? await this.provider.Client.find(String(interaction.params.client_id)) : undefined;
    if (!interaction || !client) throw new PageError(400, 'This page is over', 'Go back to the app and begin again.');
    const action = `${this.#base}/interactions/${uid}`;
    return { ctx, interaction, app: registrationOf(client as Client), action, csrf: csrfOf(this.secret, uid) };
  }

  #signInStep(turn: Turn): Page {
    const { login_hint: hint } = turn.interaction.params;
    return signInPage(turn, { identifier: typeof hint === 'string' ? hint.slice(0, 254) : '' });
  }

  async #signIn(turn: Turn, form: URLSearchParams): Promise<void> {
    const identifier = (form.get('identifier') ?? '').slice(0, 254);
    const address = (turn.ctx.req as EngineRequest).clientAddress;
    const userId = await checkPassword(this.store, { identifier, password: (form.get('password') ?? '').slice(0, 512), address });
    await this.#record(turn, userId);
    if (userId === null) return this.#render(turn, 422, signInPage(turn, { identifier, wrong: true }));
    await this.#leaveOther(turn, userId);
    await this.#finish(turn, { login: { accountId: userId, amr: ['pwd'], ts: Math.floor(Date.now() / 1000) } });
  }

  /** Who signed in, or that somebody failed; never what was typed. */
  async #record({ app }: Turn, userId: string | null): Promise<void> {
    const caller = userId === null ? systemCaller('identity') : asPerson(userId, app.id);
    await this.store.host.transaction(async tx => {
      tx.audit(userId === null ? 'sign_in.failed' : 'sign_in.succeeded', userId, { client_id: app.id });
      if (userId) await tx.sql('update identity."user" set last_sign_in_at = $2 where id = $1', [userId, tx.now().toISOString()]);
    }, internalRequest(caller));
  }

  /** Another account was signed in in this browser: its sign-in ends, and this interaction no longer belongs to it. */
  async #leaveOther({ interaction }: Turn, userId: string): Promise<void> {
    const { session } = interaction;
    if (!session?.accountId || session.accountId === userId) return;
    await endBrowserSession(this.store, session.uid!, asPerson(session.accountId, String(interaction.params.client_id)));
    interaction.session = undefined;
    await interaction.persist();
  }

  async #consentStep(turn: Turn): Promise<Page> {
    const { params, session } = turn.interaction;
    const consent = await standingConsent(this.store.sql, session!.accountId, turn.app.id);
    const declined = new Set(consent?.declined_scopes);
    const asked = consentable(params.scope as string);
    return consentPage(turn, asked, new Set(asked.filter(scope => !declined.has(scope))));
  }

  async #consent(turn: Turn, form: URLSearchParams): Promise<void> {
    const asked = consentable(turn.interaction.params.scope as string);
    const ticked = new Set(form.getAll('scope'));
    const granted = asked.filter(scope => ticked.has(scope));
    const declined = asked.filter(scope => !ticked.has(scope));
    const decision = form.get('decision');
    if (decision !== 'allow' && decision !== 'deny') throw new PageError(400, 'No decision', 'Choose to allow or to deny.');
    if (decision === 'deny' || (asked.length > 0 && granted.length === 0))
      return this.#finish(turn, { error: 'access_denied', error_description: 'the user allowed nothing' });
    const userId = turn.interaction.session!.accountId;
    await this.store.host.transaction(
      tx => giveConsent(tx, userId, turn.app.id, { granted, declined }),
      internalRequest(asPerson(userId, turn.app.id)),
    );
    await this.#finish(turn, { consent: {} });
  }

  /** Back to the engine, which goes on with the request. */
  async #finish({ ctx }: Turn, result: Parameters<Provider['interactionResult']>[2]): Promise<void> {
    const location = await this.provider.interactionResult(ctx.req, ctx.res, result, { mergeWithLastSubmission: !('error' in result) });
    ctx.status = 303;
    ctx.set(pageHeaders(null));
    ctx.redirect(location);
    ctx.status = 303;
  }

  #render({ ctx, interaction }: Turn, status: number, page: Page): void {
    const { redirect_uri: redirect } = interaction.params;
    this.write(ctx, status, page, typeof redirect === 'string' ? redirectSource(redirect) : null);
  }

  /** Writes a page. `target`: where its forms may lead besides ourselves. */
  write(ctx: KoaContextWithOIDC, status: number, page: Page, target: string | null = null): void {
    ctx.status = status;
    ctx.set(pageHeaders(target));
    ctx.type = 'text/html; charset=utf-8';
    ctx.body = document(this.#base, page);
  }

  /** A page that says what is wrong. */
  fail(ctx: KoaContextWithOIDC, { status, title, message, retryAfter }: PageError): void {
    if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
    this.write(ctx, status, messagePage(title, message));
  }
}
