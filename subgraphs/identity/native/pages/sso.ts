import type { KoaContextWithOIDC } from 'oidc-provider';
import { findTicket, useTicket } from '../../commands/sso-ticket.js';
import { profileOf } from '../../queries/batches.js';
import { redirectSource } from '../../rules/redirects.js';
import { PageError } from './form.js';
import type { OwnInteractions } from './own-interaction.js';
import type { Site } from './site.js';
import { ssoPage } from './views.js';

const OVER = new PageError(
  410,
  'This link is no longer good',
  'It was used, or its minute has run out. Go back to where you came from and begin again.',
);

/**
 * Where a partner's ticket leads: "Continue as …", the own second factor where one is due, then a browser session. Tokens are obtained by
 * the app's own authorization request afterwards, so that PKCE and consent hold. Source: identity 4.7.
 */
export class SsoPages {
  constructor(
    private readonly site: Site,
    private readonly own: OwnInteractions,
  ) {}

  async answer(ctx: KoaContextWithOIDC, token: string): Promise<void> {
    const about = `sso:${token}`;
    if (ctx.method !== 'POST') return this.#show(ctx, token, about);
    await this.site.form(ctx, about);
    const ticket = await this.site.store.host.transaction(async tx => {
      const used = await useTicket(tx, token);
      if (used) tx.audit('sso_ticket.used', used.userId, { partner: used.partner, client_id: used.clientId });
      return used;
    });
    if (!ticket) throw OVER;
    const { userId, clientId, returnTo, amr } = ticket;
    await this.own.begin(ctx, { clientId, returnTo, reason: 'sso', shown: { userId, amr } });
  }

  async #show(ctx: KoaContextWithOIDC, token: string, about: string): Promise<void> {
    const found = await this.site.store.host.read(async read => {
      const ticket = await findTicket(read, token);
      return ticket && { ticket, name: (await profileOf(read, ticket.userId))?.displayName ?? null };
    });
    if (!found) throw OVER;
    const page = ssoPage(`${this.site.base}/sso/${token}`, this.site.csrf(about), found.name);
    this.site.write(ctx, 200, page, redirectSource(found.ticket.returnTo));
  }
}
