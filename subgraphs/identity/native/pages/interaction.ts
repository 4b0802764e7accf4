import type { KoaContextWithOIDC } from 'oidc-provider';
import { internalRequest } from '../../../../runtime/request/request.js';
import { giveConsent } from '../../commands/consent.js';
import { emailOf } from '../../queries/batches.js';
import { tickedOf } from '../../rules/consent.js';
import { redirectSource } from '../../rules/redirects.js';
import { publisherOf } from '../../ports/publisher.js';
import { consentable, standingConsent } from '../oidc-provider/authorization.js';
import { consentPage } from './consent-views.js';
import { PageError, waitText } from './form.js';
import type { Page } from './layout.js';
import { MAIL_STEPS, mailPage } from './mail-steps.js';
import { checkPassword } from './password.js';
import { type Outcome, SecondFactor } from './second-factor.js';
import { completeSignIn, passFirstFactor, recordSignIn } from './sign-in.js';
import { addressOf, asPerson, type Site, type Turn } from './site.js';
import { signInPage, waitPage, WRONG } from './views.js';

/** The pages of an authorization request: sign-in, second factor, consent. Every step may be served by any process. Source: identity 4.1. */
export class InteractionPages {
  readonly #secondFactor: SecondFactor;

  constructor(private readonly site: Site) {
    this.#secondFactor = new SecondFactor(site.store);
  }

  /** Renders the step that is due, or another way to sign in. */
  async show(ctx: KoaContextWithOIDC, uid: string, step?: string): Promise<void> {
    const turn = await this.site.turn(ctx, uid);
    if (step !== undefined) return this.#showOther(turn, step);
    const consent = turn.interaction.prompt.name === 'consent';
    const due = consent ? await this.#consentStep(turn) : ((await this.#secondFactor.page(turn)) ?? this.#signInStep(turn));
    this.site.render(turn, 200, due);
  }

  /** The address of a form that was posted, opened again, leads to the step that is due. */
  #showOther(turn: Turn, step: string): void {
    const page = turn.interaction.prompt.name === 'login' ? mailPage(turn, step) : null;
    if (page) this.site.render(turn, 200, page);
    else this.site.redirect(turn.ctx, turn.action);
  }

  /** Judges a form. */
  async act(ctx: KoaContextWithOIDC, uid: string, step: string): Promise<void> {
    const turn = await this.site.turn(ctx, uid);
    const form = await this.site.form(ctx, uid);
    try {
      await this.#judge(turn, form, step);
    } catch (error) {
      if (!(error instanceof PageError) || error.retryAfter === undefined) throw error;
      ctx.set('Retry-After', String(error.retryAfter));
      this.site.render(turn, error.status, waitPage(turn, waitText(error.retryAfter)));
    }
  }

  async #judge(turn: Turn, form: URLSearchParams, step: string): Promise<void> {
    if (step === 'abort') return this.site.finish(turn, { error: 'access_denied', error_description: 'the user went back' });
    const due = turn.interaction.prompt.name;
    if (step === 'consent' && due === 'consent') return this.#consent(turn, form);
    if (step === 'login' && due === 'login') return this.#signIn(turn, form);
    if (Object.hasOwn(MAIL_STEPS, step) && due === 'login') return MAIL_STEPS[step]!(this.site, turn, form);
    if (step === 'mfa' && due === 'login') return this.#settle(turn, await this.#secondFactor.answer(turn, form));
    if (step === 'mfa-enrol' && due === 'login') return this.#settle(turn, await this.#secondFactor.enrol(turn, form));
    throw new PageError(400, 'This step is not due', 'Go back to the app and begin again.');
  }

  #signInStep(turn: Turn): Page {
    const { login_hint: hint } = turn.interaction.params;
    return signInPage(turn, { identifier: typeof hint === 'string' ? hint.slice(0, 254) : '' });
  }

  async #signIn(turn: Turn, form: URLSearchParams): Promise<void> {
    const identifier = (form.get('identifier') ?? '').slice(0, 254);
    const password = (form.get('password') ?? '').slice(0, 512);
    const userId = await checkPassword(this.site.store, { identifier, password, address: addressOf(turn.ctx) });
    if (userId !== null) return passFirstFactor(this.site, turn, { userId, amr: ['pwd'] });
    await recordSignIn(this.site, turn, null);
    this.site.render(turn, 422, signInPage(turn, { identifier, wrong: WRONG }));
  }

  async #settle(turn: Turn, outcome: Outcome): Promise<void> {
    if (outcome === 'over') return this.site.redirect(turn.ctx, turn.action);
    if (outcome === 'again') return this.site.render(turn, 422, signInPage(turn, { wrong: 'Too many codes were wrong. Sign in again.' }));
    if ('page' in outcome) return this.site.render(turn, outcome.page.error ? 422 : 200, outcome.page);
    await completeSignIn(this.site, turn, outcome.shown);
  }

  /** `empty`: with nothing ticked, because that was asked for. */
  async #consentStep(turn: Turn, empty = false): Promise<Page> {
    const { params, session } = turn.interaction;
    const { accountId } = session!;
    const { host, sql } = this.site.store;
    const row = empty ? null : await standingConsent(sql, accountId, turn.app.id);
    const scopes = consentable(params.scope as string);
    const ticked = new Set(empty ? [] : tickedOf(scopes, row && { scopes: row.scopes, declinedScopes: row.declined_scopes }));
    const account = (await host.read(read => emailOf(read, accountId)))?.email ?? null;
    const [target, connectedApps] = [redirectSource(String(params.redirect_uri)), this.site.connectedApps];
    const publisher = await publisherOf(host, turn.app);
    return consentPage(turn, { scopes, ticked, account, publisher, target, connectedApps });
  }

  async #consent(turn: Turn, form: URLSearchParams): Promise<void> {
    const asked = consentable(turn.interaction.params.scope as string);
    const ticked = new Set(form.getAll('scope'));
    const granted = asked.filter(scope => ticked.has(scope));
    const declined = asked.filter(scope => !ticked.has(scope));
    const decision = form.get('decision');
    if (decision === 'none') return this.site.render(turn, 200, await this.#consentStep(turn, true));
    if (decision !== 'allow' && decision !== 'deny') throw new PageError(400, 'No decision', 'Go back and choose what to allow.');
    if (decision === 'deny' || (asked.length > 0 && granted.length === 0))
      return this.site.finish(turn, { error: 'access_denied', error_description: 'the user allowed nothing' });
    const userId = turn.interaction.session!.accountId;
    await this.site.store.host.transaction(
      tx => giveConsent(tx, userId, turn.app.id, { granted, declined }),
      internalRequest(asPerson(userId, turn.app.id)),
    );
    await this.site.finish(turn, { consent: {} });
  }
}
