import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { loggedError } from '../../../runtime/log.js';
import { cookieSecret, PAGES } from '../ports/oidc-provider/engine.js';
import type { EngineStore } from '../ports/oidc-provider/model.js';
import { asPerson, InteractionPages } from './interaction.js';
import { endBrowserSession } from './browser-session.js';
import { checkCsrf, csrfOf, PageError, readForm } from './form.js';
import { STYLE } from './style.js';
import { messagePage, signOutPage } from './views.js';

const INTERACTION = /^\/interactions\/([\w-]{1,64})(?:\/([a-z-]+))?$/;

/** People's pages below `/v1/auth`; they run inside the engine, because they share its cookies and its clock. */
export class Pages {
  readonly #interactions: InteractionPages;
  readonly #secret: string;
  readonly #origin: string;

  constructor(
    private readonly store: EngineStore,
    private readonly provider: Provider,
  ) {
    this.#secret = cookieSecret(store);
    this.#origin = new URL(store.host.config.issuer).origin;
    this.#interactions = new InteractionPages(store, provider, this.#secret);
  }

  /** Answers one request; whatever goes wrong is a page, too. */
  async answer(ctx: KoaContextWithOIDC): Promise<void> {
    try {
      await this.#route(ctx, ctx.path.slice(PAGES.length));
    } catch (error) {
      this.#interactions.fail(ctx, error instanceof PageError ? error : this.#unexpected(error as Error));
    }
  }

  /** The engine refused an authorization request that it must not send back to an app. */
  refuse(ctx: KoaContextWithOIDC, { error, error_description: why }: { error: string; error_description?: string }): void {
    const status = error === 'server_error' ? 500 : 400;
    this.#interactions.fail(ctx, new PageError(status, 'This does not work', `${why ?? 'The request is wrong'} (${error}).`));
  }

  #unexpected(error: Error): PageError {
    this.store.host.log.error({ err: loggedError(error) }, 'a page failed');
    return new PageError(500, 'Something went wrong on our side', 'Try again in a moment.');
  }

  async #route(ctx: KoaContextWithOIDC, path: string): Promise<void> {
    if (path === '/style.css') return this.#style(ctx);
    if (path === '/sign-out') return this.#signOut(ctx);
    const [, uid, step] = INTERACTION.exec(path) ?? [];
    if (!uid) throw new PageError(404, 'There is nothing here', 'The address is wrong.');
    return ctx.method === 'POST' && step ? this.#interactions.act(ctx, uid, step) : this.#interactions.show(ctx, uid);
  }

  #style(ctx: KoaContextWithOIDC): void {
    ctx.set({ 'Cache-Control': 'public, max-age=3600', 'X-Content-Type-Options': 'nosniff' });
    ctx.type = 'text/css; charset=utf-8';
    ctx.body = STYLE;
  }

  async #signOut(ctx: KoaContextWithOIDC): Promise<void> {
    const { uid, accountId } = await this.provider.Session.get(ctx as never);
    if (!accountId) return this.#interactions.write(ctx, 200, messagePage('Signed out', 'Nobody is signed in in this browser.'));
    const about = `sign-out:${uid}`;
    const action = `${this.store.host.config.issuer}${PAGES}/sign-out`;
    if (ctx.method !== 'POST') return this.#interactions.write(ctx, 200, signOutPage(action, csrfOf(this.#secret, about)));
    checkCsrf(ctx, await readForm(ctx), this.#secret, about, this.#origin);
    await endBrowserSession(this.store, uid, asPerson(accountId, ''));
    this.#interactions.write(ctx, 200, messagePage('Signed out', 'You are signed out in this browser.'));
  }
}
