import type { KoaContextWithOIDC } from 'oidc-provider';
import { Problem } from '../../../../runtime/request/errors.js';
import { internalRequest } from '../../../../runtime/request/request.js';
import { disconnectApp } from '../../commands/connected-app.js';
import type { ConnectedApp } from '../../entities/grant.js';
import { connectedAppsOf } from '../../queries/grant.js';
import { html, type Html } from '../../../../runtime/http/html.js';
import { publisherOf } from '../../ports/publisher.js';
import { hidden, type Page } from './layout.js';
import { asPerson, type Site } from './site.js';

/** Somebody, or another page of the same browser, was faster. */
function unlessGone(error: unknown): void {
  if (!(error instanceof Problem) || error.code !== 'not_found') throw error;
}

const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

/** An app, and who publishes it. */
type ShownApp = ConnectedApp & { publisher: string };

const appItem = (action: string, csrf: string, { client, publisher, scopes, connectedAt }: ShownApp): Html =>
  html`<section class="app">
    <h2>${client.name}</h2>
    <p class="note">By ${publisher}. Connected on ${dayOf(connectedAt)}.</p>
    <ul>
      ${scopes.map(scope => html`<li>${scope.title}</li>`)}
    </ul>
    <form method="post" action="${action}">
      ${hidden(csrf)}<input type="hidden" name="client" value="${client.id}" /><button class="quiet">Disconnect ${client.name}</button>
    </form>
  </section>`;

const listPage = (action: string, csrf: string, signOut: string, apps: readonly ShownApp[]): Page => ({
  title: 'Connected apps',
  body: html`<p>
      ${apps.length > 0 ? 'These apps have access to your account. One that you disconnect loses it at once, on every device.' : 'No app has access to your account.'}
    </p>
    ${apps.map(app => appItem(action, csrf, app))}
    <p class="links"><a href="${signOut}">Sign out</a></p>`,
});

/** Which apps somebody has let in, and how to take it back; for the browser session. Source: identity 4.1. */
export class ConnectedAppsPage {
  constructor(private readonly site: Site) {}

  async answer(ctx: KoaContextWithOIDC): Promise<void> {
    const { uid, accountId } = await this.site.provider.Session.get(ctx as never);
    if (!accountId)
      return this.site.tell(
        ctx,
        200,
        'Your account',
        'Nobody is signed in in this browser. Open an app of yours: it brings you here to sign in.',
      );
    const about = `connected-apps:${uid}`;
    if (ctx.method === 'POST') {
      const clientId = (await this.site.form(ctx, about)).get('client') ?? '';
      const caller = { ...asPerson(accountId, ''), firstParty: true };
      const done = this.site.store.host.transaction(tx => disconnectApp(tx, clientId), internalRequest(caller));
      await done.catch(unlessGone);
      return this.site.redirect(ctx, this.site.connectedApps);
    }
    const { host } = this.site.store;
    const connected = await host.read(read => connectedAppsOf(read, accountId));
    const apps = await Promise.all(connected.map(async app => ({ ...app, publisher: await publisherOf(host, app.client) })));
    this.site.write(ctx, 200, listPage(this.site.connectedApps, this.site.csrf(about), `${this.site.base}/sign-out`, apps));
  }
}
