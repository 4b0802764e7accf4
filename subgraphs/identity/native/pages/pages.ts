import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { loggedError } from '../../../../runtime/observe/log.js';
import { internalRequest } from '../../../../runtime/request/request.js';
import { endBrowserSession } from '../../commands/session.js';
import { TooManyHashes } from '../../ports/argon2.js';
import { PAGES } from '../../rules/endpoints.js';
import type { EngineStore } from '../oidc-provider/model.js';
import { ConnectedAppsPage } from './connected-apps.js';
import { PageError, waitText } from './form.js';
import { html } from '../../../../runtime/http/html.js';
import { InteractionPages } from './interaction.js';
import { LandingPages } from './landing.js';
import { OwnInteractions } from './own-interaction.js';
import { asPerson, Site } from './site.js';
import { SsoPages } from './sso.js';
import { StaffInvitationPage } from './staff-invitation.js';
import { ICON, STYLE } from '../../../../runtime/http/page-style.js';
import { signOutPage } from './views.js';

const LINK = /^\/magic\/([\w-]{43})$/;
const UNDO = /^\/email-undo\/([\w-]{43})$/;
const INTERACTION = /^\/interactions\/([\w-]{1,64})(?:\/([a-z-]+))?$/;

const TICKET = /^\/sso\/([\w-]{43})$/;
const INVITATION = /^\/staff-invitations\/([\w-]{20,128})$/;

/** People's pages below `/v1/auth`; they run inside the engine, because they share its cookies and its clock. */
export class Pages {
  readonly #site: Site;
  readonly #interactions: InteractionPages;
  readonly #invitation: StaffInvitationPage;
  readonly #connectedApps: ConnectedAppsPage;
  readonly #landing: LandingPages;
  readonly #own: OwnInteractions;
  readonly #sso: SsoPages;

  constructor(
    private readonly store: EngineStore,
    private readonly provider: Provider,
  ) {
    this.#site = new Site(store, provider);
    this.#interactions = new InteractionPages(this.#site);
    this.#own = new OwnInteractions(this.#site);
    this.#invitation = new StaffInvitationPage(this.#site, this.#own);
    this.#connectedApps = new ConnectedAppsPage(this.#site);
    this.#landing = new LandingPages(this.#site);
    this.#sso = new SsoPages(this.#site, this.#own);
  }

  /** Answers one request; whatever goes wrong is a page, too. */
  async answer(ctx: KoaContextWithOIDC): Promise<void> {
    try {
      await this.#route(ctx, ctx.path.slice(PAGES.length));
    } catch (error) {
      await this.#site.fail(ctx, this.#pageOf(error as Error));
    }
  }

  /** The engine refused an authorization request that it must not send back to an app. */
  async refuse(ctx: KoaContextWithOIDC, { error, error_description: why }: { error: string; error_description?: string }): Promise<void> {
    const status = error === 'server_error' ? 500 : 400;
    const { client_id: clientId } = ctx.query;
    const text = html`<p>
        The app has sent a request that cannot be accepted. Go back to it and try again; if it stays so, tell its makers.
      </p>
      <p class="note">For its makers: ${why ?? 'the request is wrong'} (${error}).</p>`;
    await this.#site.tell(ctx, status, 'This sign-in cannot begin', text, typeof clientId === 'string' ? { clientId } : {});
  }

  /** Too many requests came from there. */
  async hold(ctx: KoaContextWithOIDC, seconds: number): Promise<void> {
    const error = new PageError(429, 'Too many requests', `Wait ${waitText(seconds)}, then try again.`, seconds);
    const again = { href: `${this.store.host.config.issuer}${ctx.path}${ctx.search}`, label: 'Try again' };
    await this.#site.fail(ctx, error, { first: [again] });
  }

  #pageOf(error: Error): PageError {
    if (error instanceof PageError) return error;
    if (error instanceof TooManyHashes) return new PageError(503, 'Too many people at once', error.message, error.options.retryAfter);
    this.store.host.log.error({ err: loggedError(error) }, 'a page failed');
    return new PageError(500, 'Something went wrong on our side', 'Try again in a moment.');
  }

  async #route(ctx: KoaContextWithOIDC, path: string): Promise<void> {
    if (path === '/style.css') return this.#asset(ctx, 'text/css; charset=utf-8', STYLE);
    if (path === '/icon.svg') return this.#asset(ctx, 'image/svg+xml', ICON);
    if (path === '/sign-out') return this.#signOut(ctx);
    if (path === '/connected-apps') return this.#connectedApps.answer(ctx);
    const [, invitation] = INVITATION.exec(path) ?? [];
    if (path === '/staff-invitations/continue') return this.#invitation.goOn(ctx);
    if (invitation) return this.#invitation.answer(ctx, invitation);
    const [, ticket] = TICKET.exec(path) ?? [];
    if (ticket) return this.#sso.answer(ctx, ticket);
    const [, token] = LINK.exec(path) ?? [];
    if (token) return this.#landing.answer(ctx, token);
    const [, undo] = UNDO.exec(path) ?? [];
    if (undo) return this.#landing.undo(ctx, undo);
    const [, uid, step] = INTERACTION.exec(path) ?? [];
    if (!uid) throw new PageError(404, 'There is nothing here', 'The address is wrong.');
    if (ctx.method === 'GET' && step === 'continue') return this.#own.finish(ctx, uid);
    return ctx.method === 'POST' && step ? this.#interactions.act(ctx, uid, step) : this.#interactions.show(ctx, uid, step);
  }

  #asset(ctx: KoaContextWithOIDC, type: string, body: string): void {
    ctx.set({ 'Cache-Control': 'public, max-age=3600', 'X-Content-Type-Options': 'nosniff' });
    ctx.type = type;
    ctx.body = body;
  }

  async #signOut(ctx: KoaContextWithOIDC): Promise<void> {
    const { uid, accountId } = await this.provider.Session.get(ctx as never);
    if (!accountId) return this.#site.tell(ctx, 200, 'Signed out', 'Nobody is signed in in this browser.');
    const about = `sign-out:${uid}`;
    const action = `${this.store.host.config.issuer}${PAGES}/sign-out`;
    if (ctx.method !== 'POST') return this.#site.write(ctx, 200, signOutPage(action, this.#site.csrf(about)));
    await this.#site.form(ctx, about);
    await this.store.host.transaction(tx => endBrowserSession(tx, uid), internalRequest(asPerson(accountId, '')));
    await this.#site.tell(ctx, 200, 'Signed out', 'You are signed out in this browser.');
  }
}
