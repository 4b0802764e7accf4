import { randomBytes } from 'node:crypto';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { SESSION_SECONDS } from '../../rules/lifetimes.js';
import { forPage } from '../oidc-provider/model.js';
import { PageError } from './form.js';
import { passFirstFactor } from './sign-in.js';
import type { Interaction, Shown, Site } from './site.js';

/** Time for signing in, s. */
const INTERACTION_SECONDS = 900;
/** Marks such an interaction, and holds where it leads. */
const RETURN_TO = 'own_return_to';

/** The types lack the constructor. */
type NewInteraction = new (uid: string, payload: object) => Interaction;

export interface Beginning {
  /** App whose sign-in it is. */
  clientId: string;
  /** Where it leads. */
  returnTo: string;
  reason: 'sso' | 'invitation';
  /** What has been shown already; null: nothing. */
  shown: Shown | null;
}

/**
 * A sign-in that no app has asked for: an interaction of the engine like any other, so that the same pages ask for what is due. Only its
 * end is ours: a browser session. Apps obtain tokens by their own requests afterwards, so that PKCE and consent hold.
 */
export class OwnInteractions {
  constructor(private readonly site: Site) {}

  /** @throws PageError 410 when the app is gone. */
  async begin(ctx: KoaContextWithOIDC, { clientId, returnTo, reason, shown }: Beginning): Promise<void> {
    const { provider } = this.site;
    const uid = randomBytes(32).toString('base64url');
    const session = await provider.Session.get(ctx as never);
    const interaction = new (provider.Interaction as unknown as NewInteraction)(uid, {
      returnTo: `${this.site.base}/interactions/${uid}/continue`,
      prompt: { name: 'login', reasons: [reason], details: {} },
      params: { client_id: clientId, redirect_uri: returnTo, [RETURN_TO]: returnTo },
      session,
    });
    await interaction.save(INTERACTION_SECONDS);
    ctx.cookies.set(provider.cookieName('interaction'), uid, { ...this.#cookie(uid), maxAge: INTERACTION_SECONDS * 1000 });
    const turn = await this.site.turnOf(ctx, interaction);
    if (!turn) throw new PageError(410, 'This app is gone', 'Go back to where you came from.');
    if (shown) await passFirstFactor(this.site, turn, shown);
    else this.site.redirect(ctx, turn.action);
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
