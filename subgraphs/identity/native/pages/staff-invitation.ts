import type { KoaContextWithOIDC } from 'oidc-provider';
import { systemCaller } from '../../../../runtime/request/caller.js';
import type { Context } from '../../../../runtime/request/context.js';
import { Problem } from '../../../../runtime/request/errors.js';
import { internalRequest } from '../../../../runtime/request/request.js';
import { openAccount } from '../../commands/account.js';
import { acceptInvitation } from '../../commands/staff-invitation.js';
import type { StaffMember } from '../../entities/staff.js';
import { UserEmail } from '../../entities/user.js';
import { invitedBy, type Obstacle, obstacleOf } from '../../queries/staff-invitation.js';
import { PageError } from './form.js';
import { asPerson, type Site } from './site.js';
import { invitationPage, messagePage } from './views.js';

/** What the person at the page can do now. */
type Step = 'accept' | 'open_account' | 'sign_in' | Obstacle;

/** What to do before the invitation can be accepted. Who was invited is shown to nobody: a link may be in wrong hands. */
const OBSTACLES: Readonly<Record<Exclude<Step, 'accept' | 'open_account'>, readonly [title: string, text: string]>> = {
  sign_in: ['Sign in first', 'Sign in with the address that the invitation came to, then open its link again in this browser.'],
  wrong_account: [
    'This invitation is for another account',
    'You are signed in with another address. Sign out, sign in with the right one, then open the link again.',
  ],
  mfa_required: [
    'Set up a second factor first',
    'Everybody who works here signs in with a second factor. Sign out, sign in to the staff app, which sets one up, then open the link again.',
  ],
  already_staff: ['You work here already', 'There is nothing to accept for this account.'],
};

const OVER = new PageError(410, 'This invitation is over', 'It was used or taken back, or its time has run out. Ask for a new one.');

async function stepOf(ctx: Context, staff: StaffMember, userId: string | null): Promise<Step> {
  if (userId !== null) return (await obstacleOf(ctx, staff, userId)) ?? 'accept';
  return (await ctx.em.count(UserEmail, { emailKey: staff.emailKey })) > 0 ? 'sign_in' : 'open_account';
}

/** The page that an invitation's link leads to: GET shows, POST acts. Source: identity 4.1. */
export class StaffInvitationPage {
  constructor(private readonly site: Site) {}

  async answer(ctx: KoaContextWithOIDC, token: string): Promise<void> {
    const { accountId: userId = null } = await this.site.provider.Session.get(ctx as never);
    const step = await this.site.store.host.read(async read => {
      const found = await invitedBy(read, token);
      if (!found) throw new PageError(404, 'There is nothing here', 'The address is wrong.');
      if (!found.open) throw OVER;
      return stepOf(read, found.staff, userId);
    });
    const about = `staff-invitation:${token}`;
    if (ctx.method !== 'POST') return this.#show(ctx, step, `${this.site.base}/staff-invitations/${token}`, about);
    await this.site.form(ctx, about);
    if (step === 'accept') return this.#accept(ctx, token, userId!);
    if (step === 'open_account') return this.#openAccount(ctx, token);
    this.site.write(ctx, 409, messagePage(...OBSTACLES[step]));
  }

  #show(ctx: KoaContextWithOIDC, step: Step, action: string, about: string): void {
    const offers = step === 'accept' || step === 'open_account';
    this.site.write(ctx, 200, offers ? invitationPage(action, this.site.csrf(about), step) : messagePage(...OBSTACLES[step]));
  }

  async #accept(ctx: KoaContextWithOIDC, token: string, userId: string): Promise<void> {
    await this.site.store.host
      .transaction(tx => acceptInvitation(tx, token, userId), internalRequest(asPerson(userId, '')))
      .catch(error => Promise.reject(error instanceof Problem && error.code !== 'unavailable' ? OVER : error)); // somebody was faster
    this.site.write(
      ctx,
      200,
      messagePage('Welcome', 'The invitation is accepted. Open the staff app and sign in with your second factor.'),
    );
  }

  /** Whoever has the link has the mailbox: the address is proven. The invitation stays open, because a second factor is owed. */
  async #openAccount(ctx: KoaContextWithOIDC, token: string): Promise<void> {
    await this.site.store.host.transaction(
      async tx => {
        const found = await invitedBy(tx, token);
        if (!found?.open) throw OVER;
        const { email, displayName } = found.staff;
        await openAccount(tx, { email, emailVerified: true, displayName }, 'staff_invite');
      },
      internalRequest(systemCaller('identity')),
    );
    this.site.write(
      ctx,
      200,
      messagePage(
        'Your account is there',
        'Sign in to the staff app with a link by mail; it sets up a second factor. Then open the invitation again.',
      ),
    );
  }
}
