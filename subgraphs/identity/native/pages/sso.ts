import { randomBytes } from 'node:crypto';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { findTicket, type SsoTicket, useTicket } from '../../commands/sso-ticket.js';
import { profileOf } from '../../queries/batches.js';
import { SESSION_SECONDS } from '../../rules/lifetimes.js';
import { redirectSource } from '../../rules/redirects.js';
import { forPage } from '../oidc-provider/model.js';
import { PageError } from './form.js';
import { passFirstFactor } from './sign-in.js';
import type { Interaction, Site } from './site.js';
import { ssoPage } from './views.js';

/** Time for the second factor, s. */
const INTERACTION_SECONDS = 900;
/** Marks the interaction of a ticket, and holds where it leads. */
const RETURN_TO = 'sso_return_to';

/** The types lack the constructor. */
type NewInteraction = new (uid: string, payload: object) => Interaction;

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
  constructor(private readonly site: Site) {}

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
    await this.#begin(ctx, ticket);
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

  /** An interaction of the engine like any other, so that the same pages ask for what is due; only its end is ours. */
  async #begin(ctx: KoaContextWithOIDC, { userId, clientId, returnTo, amr }: SsoTicket): Promise<void> {
    const { provider } = this.site;
    const uid = randomBytes(32).toString('base64url');
    const session = await provider.Session.get(ctx as never);
    const interaction = new (provider.Interaction as unknown as NewInteraction)(uid, {
      returnTo: `${this.site.base}/interactions/${uid}/continue`,
      prompt: { name: 'login', reasons: ['sso'], details: {} },
      params: { client_id: clientId, redirect_uri: returnTo, [RETURN_TO]: returnTo },
      session,
    });
    await interaction.save(INTERACTION_SECONDS);
    ctx.cookies.set(provider.cookieName('interaction'), uid, { ...this.#cookie(uid), maxAge: INTERACTION_SECONDS * 1000 });
    const turn = await this.site.turnOf(ctx, interaction);
    if (!turn) throw OVER;
    await passFirstFactor(this.site, turn, { userId, amr });
  }

  #cookie(uid: string) {
    return { path: new URL(`${this.site.base}/interactions/${uid}`).pathname, httpOnly: true, sameSite: 'lax', signed: true } as const;
  }

  /** The end of such an interaction, in the browser that it began in: a session of its own, never one that was there before. */
  async finish(ctx: KoaContextWithOIDC, uid: string): Promise<void> {
    const { interaction } = await this.site.turn(ctx, uid);
    const returnTo = interaction.params[RETURN_TO];
    if (typeof returnTo !== 'string' || !interaction.result)
      throw new PageError(400, 'This step is not due', 'Go back to the app and begin again.');
    const { login } = interaction.result;
    await interaction.destroy();
    ctx.cookies.set(this.site.provider.cookieName('interaction'), null, this.#cookie(uid));
    if (login) await this.#signIn(ctx, login as { accountId: string; ts: number; amr: string[] });
    this.site.redirect(ctx, returnTo);
  }

  async #signIn(ctx: KoaContextWithOIDC, { accountId, ts: loginTs, amr }: { accountId: string; ts: number; amr: string[] }): Promise<void> {
    const { provider } = this.site;
    const session = await provider.Session.get(ctx as never);
    session.loginAccount({ accountId, loginTs, amr });
    session.resetIdentifier();
    await forPage(ctx, () => session.save(SESSION_SECONDS));
    const { pathname: path } = new URL(this.site.store.host.config.issuer);
    const expires = new Date(Date.now() + SESSION_SECONDS * 1000);
    ctx.cookies.set(provider.cookieName('session'), session.jti, {
      path,
      httpOnly: true,
      sameSite: 'lax',
      signed: true,
      expires,
      overwrite: true,
    });
  }
}
