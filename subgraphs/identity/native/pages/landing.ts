import type { KoaContextWithOIDC } from 'oidc-provider';
import { acceptLink, openField } from '../../commands/challenge.js';
import { undoEmailChange } from '../../commands/email-change.js';
import { passwordFault } from '../../commands/password.js';
import { proveAddress, recover } from '../../commands/proof.js';
import type { AuthChallenge } from '../../entities/challenge.js';
import { hashPassword } from '../../ports/argon2.js';
import { findByLink } from '../../queries/challenge.js';
import { challengeState, type ChallengeTemplate } from '../../rules/challenges.js';
import { redirectSource } from '../../rules/redirects.js';
import { PageError } from './form.js';
import type { Page } from './layout.js';
import { continuePage, elsewherePage, newPasswordPage, type Reset } from './mail-views.js';
import { passFirstFactor } from './sign-in.js';
import type { Site } from './site.js';

const LINKS: readonly ChallengeTemplate[] = ['sign_in', 'sign_up', 'recovery'];

const UNDO: readonly ChallengeTemplate[] = ['email_undo'];

const GONE = {
  consumed: 'This link was used already.',
  exhausted: 'The code of this mail was wrong too often.',
  expired: 'This link is too old.',
} as const;

const RECOVERY: Reset = {
  title: 'Choose a new password',
  text: 'With it you are signed out everywhere, and apps have to be opened anew.',
  button: 'Save the new password',
};

const RESTORE: Reset = {
  title: 'Take back the change of your address',
  text: 'Your account gets its old e-mail address again, with a new password, and everybody is signed out.',
  button: 'Take it back',
};

const gone = (why: string): PageError =>
  new PageError(410, 'This link is no longer good', `${why} Go back to the app and ask for a new mail.`);

/** Where the links of our mails lead. Opening one never uses it up: programs that look at mail open links, too. Source: identity 4.1. */
export class LandingPages {
  constructor(private readonly site: Site) {}

  async answer(ctx: KoaContextWithOIDC, token: string): Promise<void> {
    const challenge = await this.#find(token);
    const action = `${this.site.base}/magic/${token}`;
    const onward = this.#onwardOf(challenge);
    if (onward) return this.#onward(ctx, token, action, onward);
    if (challenge.template === 'recovery') return this.#recovery(ctx, token, action);
    if (!this.site.isExpected(ctx, challenge.interactionHash)) return this.#elsewhere(ctx, challenge);
    if (ctx.method !== 'POST') return this.#offer(ctx, continuePage(action, this.site.csrf(`magic:${token}`)));
    await this.site.form(ctx, `magic:${token}`);
    await this.#goOn(ctx, token, challenge);
  }

  /** @throws PageError 410 when it is used, over or unknown. */
  async #find(token: string, templates = LINKS): Promise<AuthChallenge> {
    const { host } = this.site.store;
    const [challenge, now] = await host.read(async ctx => [await findByLink(ctx, token, templates), ctx.now()] as const);
    const state = challenge ? challengeState(challenge, now) : 'expired';
    if (state !== 'pending') throw gone(GONE[state]);
    return challenge!;
  }

  /** Where an outside provider goes on. */
  #onwardOf({ id, payloadSealed }: AuthChallenge): string | null {
    const payload = openField(this.site.store.host, 'payload', id, payloadSealed);
    return payload === null ? null : ((JSON.parse(payload) as { onward?: string }).onward ?? null);
  }

  /** The address is proven to us; the provider's own token then does what its mail is for. */
  async #onward(ctx: KoaContextWithOIDC, token: string, action: string, onward: string): Promise<void> {
    const page = continuePage(action, this.site.csrf(`magic:${token}`));
    if (ctx.method !== 'POST') return this.site.write(ctx, 200, page, redirectSource(onward));
    await this.site.form(ctx, `magic:${token}`);
    await this.site.store.host.transaction(async tx => {
      const proven = await acceptLink(tx, token, LINKS);
      if (!proven) throw gone(GONE.consumed);
      await proveAddress(tx, proven);
    });
    this.site.redirect(ctx, onward);
  }

  /** Its form leads to the app in the end, which the page's policy must allow. */
  async #offer(ctx: KoaContextWithOIDC, page: Page): Promise<void> {
    const turn = await this.site.expectedTurn(ctx);
    if (turn) this.site.render(turn, 200, page);
    else this.site.write(ctx, 200, page);
  }

  #elsewhere(ctx: KoaContextWithOIDC, { id, codeSealed }: AuthChallenge): void {
    const code = openField(this.site.store.host, 'code', id, codeSealed);
    this.site.write(ctx, 200, elsewherePage(code));
  }

  /** The browser that asked is signed in where it began. A new account outlives its request: it is active, and signs in at the app. */
  async #goOn(ctx: KoaContextWithOIDC, token: string, { template }: AuthChallenge): Promise<void> {
    const turn = await this.site.expectedTurn(ctx);
    if (!turn && template !== 'sign_up') throw new PageError(400, 'This page is over', 'Go back to the app and begin again.');
    const userId = await this.site.store.host.transaction(async tx => {
      const proven = await acceptLink(tx, token, ['sign_in', 'sign_up']);
      return proven ? proveAddress(tx, proven) : null;
    });
    if (userId === null) throw gone(GONE.consumed);
    if (turn) return passFirstFactor(this.site, turn, { userId, amr: ['email'] });
    await this.site.tell(ctx, 200, 'Your account is ready', 'Go back to the app and sign in.');
  }

  /** Whoever reads the mail chooses, in any browser; nobody is signed in by it. */
  async #recovery(ctx: KoaContextWithOIDC, token: string, action: string): Promise<void> {
    const csrf = this.site.csrf(`magic:${token}`);
    if (ctx.method !== 'POST') return this.site.write(ctx, 200, newPasswordPage(action, csrf, RECOVERY));
    const password = (await this.site.form(ctx, `magic:${token}`)).get('password') ?? '';
    const fault = await passwordFault(this.site.store.host, password);
    if (fault) return this.site.write(ctx, 422, newPasswordPage(action, csrf, RECOVERY, fault));
    const hash = await hashPassword(password);
    const userId = await this.site.store.host.transaction(async tx => {
      const proven = await acceptLink(tx, token, ['recovery']);
      return proven ? recover(tx, proven, hash) : null;
    });
    if (userId === null) throw gone(GONE.consumed);
    await this.site.tell(ctx, 200, 'Your password is changed', 'Go back to the app and sign in with it.');
  }

  /** Takes a change of address back. It asks for a new password, because the old one is not safe. Source: identity 4.14. */
  async undo(ctx: KoaContextWithOIDC, token: string): Promise<void> {
    await this.#find(token, UNDO);
    const [action, csrf] = [`${this.site.base}/email-undo/${token}`, this.site.csrf(`undo:${token}`)];
    if (ctx.method !== 'POST') return this.site.write(ctx, 200, newPasswordPage(action, csrf, RESTORE));
    const password = (await this.site.form(ctx, `undo:${token}`)).get('password') ?? '';
    const fault = await passwordFault(this.site.store.host, password);
    if (fault) return this.site.write(ctx, 422, newPasswordPage(action, csrf, RESTORE, fault));
    const hash = await hashPassword(password);
    await this.site.store.host.transaction(async tx => {
      const outcome = await undoEmailChange(tx, token, hash);
      if (outcome === 'gone') throw gone(GONE.consumed);
      if (outcome === 'taken')
        throw new PageError(409, 'This address belongs to somebody', 'There is another account with it now. Write to our support.');
    });
    const text = 'Everybody was signed out. Go back to the app and sign in with your new password.';
    await this.site.tell(ctx, 200, 'Your address is yours again', text);
  }
}
