import type { Client, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { sha256 } from '../../../../runtime/data/crypto.js';
import { type Caller, systemCaller } from '../../../../runtime/request/caller.js';
import { PAGES } from '../../rules/endpoints.js';
import { homeOf, redirectSource } from '../../rules/redirects.js';
import { cookieSecret } from '../oidc-provider/cookies.js';
import type { EngineStore } from '../oidc-provider/model.js';
import type { Registration } from '../oidc-provider/registration.js';
import { type EngineRequest, registrationOf } from '../oidc-provider/state.js';
import { checkCsrf, csrfOf, PageError, readForm } from './form.js';
import type { Html } from '../../../../runtime/http/html.js';
import { document, localeOf, type Page, pageHeaders, type Way } from './layout.js';
import { messagePage } from './views.js';

export type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** A person at a page, for audit rows and events. */
export const asPerson = (userId: string, clientId: string): Caller => ({
  ...systemCaller('identity'),
  kind: 'user',
  clientId,
  userId,
  serviceSlug: null,
});

/** One step of one interaction. */
export interface Turn {
  ctx: KoaContextWithOIDC;
  interaction: Interaction;
  app: Registration;
  /** Address of the interaction. */
  action: string;
  csrf: string;
}

/** How a page leads on. */
export interface Ways {
  /** Before the way back to the app. */
  first?: readonly Way[];
  /** The app; default: the one that this browser was sent by last. */
  clientId?: string;
}

/** What somebody has shown: whose account it is, and by which methods (RFC 8176 and identity A2). */
export interface Shown {
  userId: string;
  amr: readonly string[];
}

/** Marks the browser that asked for a mail, so that others that open its link are known; as long as the longest link. */
const LINK_COOKIE = '_magic_link';
const LINK_COOKIE_MS = 86_400_000;

/** Names the app that this browser was sent by last, so that a page on which nothing can be done any more leads back to it. */
const APP_COOKIE = '_app';
const APP_COOKIE_MS = 86_400_000;

/** Where a request comes from; see `addressKey`. */
export const addressOf = (ctx: KoaContextWithOIDC): string => (ctx.req as EngineRequest).clientAddress;

/** The pages' address, their secret, and how they are written. */
export class Site {
  readonly base: string;
  /** Where a person sees which apps have access, and takes it back. */
  readonly connectedApps: string;
  readonly secret: string;
  readonly #origin: string;

  constructor(
    readonly store: EngineStore,
    readonly provider: Provider,
  ) {
    this.base = `${store.host.config.issuer}${PAGES}`;
    this.connectedApps = `${this.base}/connected-apps`;
    this.secret = cookieSecret(store);
    this.#origin = new URL(store.host.config.issuer).origin;
  }

  /** The interaction that this browser may go on with. @throws PageError 400 without its cookie. */
  async turn(ctx: KoaContextWithOIDC, uid: string): Promise<Turn> {
    const interaction = await this.provider.interactionDetails(ctx.req, ctx.res).catch(() => null);
    const turn = interaction?.uid === uid ? await this.turnOf(ctx, interaction) : null;
    if (!turn) throw new PageError(400, 'This page is over', 'Go back to the app and begin again.');
    return turn;
  }

  /** A step of an interaction whose browser has been made out otherwise; null when its app is gone. */
  async turnOf(ctx: KoaContextWithOIDC, interaction: Interaction): Promise<Turn | null> {
    const client = await this.provider.Client.find(String(interaction.params.client_id));
    if (!client) return null;
    const action = `${this.base}/interactions/${interaction.uid}`;
    return { ctx, interaction, app: registrationOf(client as Client), action, csrf: this.csrf(interaction.uid) };
  }

  /** The link that this interaction has mailed will be good in this browser. */
  expectLink(ctx: KoaContextWithOIDC, uid: string): void {
    const path = `${new URL(this.base).pathname}/magic`;
    ctx.cookies.set(LINK_COOKIE, uid, { path, httpOnly: true, sameSite: 'lax', signed: true, maxAge: LINK_COOKIE_MS, overwrite: true });
  }

  /** Whether this browser is the one that has asked, by the SHA-256 of its interaction's id. */
  isExpected(ctx: KoaContextWithOIDC, interactionHash: Buffer | null): boolean {
    const uid = this.#expected(ctx);
    return uid !== undefined && interactionHash !== null && sha256(uid).equals(interactionHash);
  }

  #expected(ctx: KoaContextWithOIDC): string | undefined {
    return ctx.cookies.get(LINK_COOKIE, { signed: true });
  }

  /** The interaction that this browser has asked in, if it is at its sign-in still; null when it is over. */
  async expectedTurn(ctx: KoaContextWithOIDC): Promise<Turn | null> {
    const uid = this.#expected(ctx);
    const interaction = uid === undefined ? undefined : await this.provider.Interaction.find(uid);
    return interaction?.prompt.name === 'login' ? this.turnOf(ctx, interaction) : null;
  }

  csrf(about: string): string {
    return csrfOf(this.secret, about);
  }

  /** A posted form of ours. @throws PageError 403 when it is not. */
  async form(ctx: KoaContextWithOIDC, about: string): Promise<URLSearchParams> {
    const form = await readForm(ctx);
    checkCsrf(ctx, form, this.secret, about, this.#origin);
    return form;
  }

  /** Back to the engine, which goes on with the request. */
  async finish({ ctx, interaction }: Turn, result: NonNullable<Interaction['result']>): Promise<void> {
    interaction.result = 'error' in result ? result : { ...interaction.lastSubmission, ...result };
    await interaction.persist();
    this.redirect(ctx, interaction.returnTo);
  }

  redirect(ctx: KoaContextWithOIDC, location: string): void {
    ctx.set(pageHeaders(null));
    ctx.redirect(location);
    ctx.status = 303;
  }

  render({ ctx, interaction, app }: Turn, status: number, page: Page): void {
    const path = new URL(this.base).pathname;
    ctx.cookies.set(APP_COOKIE, app.id, { path, httpOnly: true, sameSite: 'lax', signed: true, maxAge: APP_COOKIE_MS, overwrite: true });
    const { redirect_uri: redirect, ui_locales: languages } = interaction.params;
    this.write(ctx, status, { ...page, lang: localeOf(languages) }, typeof redirect === 'string' ? redirectSource(redirect) : null);
  }

  /** Writes a page. `target`: where its forms may lead besides ourselves. */
  write(ctx: KoaContextWithOIDC, status: number, page: Page, target: string | null = null): void {
    ctx.status = status;
    ctx.set(pageHeaders(target));
    ctx.type = 'text/html; charset=utf-8';
    ctx.body = document(this.base, page);
  }

  /** The app that this browser was sent by last, or the one that is named. */
  async #homeOf(ctx: KoaContextWithOIDC, clientId = ctx.cookies.get(APP_COOKIE, { signed: true })): Promise<Way> {
    const client = clientId === undefined ? undefined : await this.provider.Client.find(clientId).catch(() => undefined);
    const app = client && registrationOf(client as Client);
    const href = app ? homeOf(app) : null;
    return href === null ? { href: this.connectedApps, label: 'Go to your account' } : { href, label: `Go back to ${app!.name}` };
  }

  /** A page that says something and leads on: to where the person came from, unless another way is given. */
  async tell(ctx: KoaContextWithOIDC, status: number, title: string, text: string | Html, ways: Ways = {}): Promise<void> {
    const [first, home] = [ways.first ?? [], await this.#homeOf(ctx, ways.clientId)];
    this.write(ctx, status, messagePage(title, text, [...first, ...(first.some(way => way.href === home.href) ? [] : [home])]));
  }

  /** A page that names what is wrong. */
  async fail(ctx: KoaContextWithOIDC, { status, title, message, retryAfter }: PageError, ways: Ways = {}): Promise<void> {
    if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
    await this.tell(ctx, status, title, message, ways);
  }
}
