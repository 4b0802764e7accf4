import type { KoaContextWithOIDC } from 'oidc-provider';
import { systemCaller } from '../../../../runtime/request/caller.js';
import type { Context } from '../../../../runtime/request/context.js';
import { Problem } from '../../../../runtime/request/errors.js';
import { internalRequest } from '../../../../runtime/request/request.js';
import { openAccount } from '../../commands/account.js';
import { acceptInvitation } from '../../commands/staff-invitation.js';
import type { StaffMember } from '../../entities/staff.js';
import { UserEmail } from '../../entities/user.js';
import { invitedBy, obstacleOf, type StaffApp, staffAppOf } from '../../queries/staff-invitation.js';
import { homeOf } from '../../rules/redirects.js';
import { PageError } from './form.js';
import { invitationPage, type InvitationStep } from './invitation-views.js';
import type { Way } from './layout.js';
import type { OwnInteractions } from './own-interaction.js';
import { asPerson, type Shown, type Site } from './site.js';

const OVER = new PageError(410, 'This invitation is over', 'It was used or taken back, or its time has run out. Ask for a new one.');
const NO_APP = new PageError(409, 'The staff app is not set up yet', 'Tell whoever invited you. The invitation stays good until then.');

/** Holds the link while its person signs in: what is stored of the sign-in must not hold it. */
const LINK_COOKIE = '_invitation';
const LINK_COOKIE_MS = 3_600_000;

interface Invitation {
  token: string;
  staff: StaffMember;
  step: InvitationStep;
  /** Who is signed in in this browser. */
  userId: string | null;
  app: StaffApp | null;
}

async function stepOf(ctx: Context, staff: StaffMember, userId: string | null): Promise<InvitationStep> {
  if (userId !== null) return (await obstacleOf(ctx, staff, userId)) ?? 'accept';
  return (await ctx.em.count(UserEmail, { emailKey: staff.emailKey })) > 0 ? 'sign_in' : 'open_account';
}

/**
 * The page that an invitation's link leads to: GET shows, POST acts. Who has to sign in, open an account or set up a second factor does so by
 * one button, and comes back to it. Source: identity 4.1.
 */
export class StaffInvitationPage {
  readonly #path: string;

  constructor(
    private readonly site: Site,
    private readonly own: OwnInteractions,
  ) {
    this.#path = `${this.site.base}/staff-invitations`;
  }

  async answer(ctx: KoaContextWithOIDC, token: string): Promise<void> {
    const invitation = await this.#find(ctx, token);
    const { step, app } = invitation;
    const about = `staff-invitation:${token}`;
    if (ctx.method !== 'POST')
      return this.site.write(ctx, 200, invitationPage(`${this.#path}/${token}`, this.site.csrf(about), step, staffWay(app)));
    await this.site.form(ctx, about);
    if (step === 'accept') return this.#accept(ctx, invitation);
    if (step === 'already_staff')
      return this.site.tell(ctx, 409, 'You work here already', 'There is nothing to accept.', { first: staffWay(app) });
    if (!app) throw NO_APP;
    await this.#signIn(ctx, { token, app }, step === 'open_account' ? { userId: await this.#openAccount(token), amr: ['email'] } : null);
  }

  /** Back from signing in. */
  async goOn(ctx: KoaContextWithOIDC): Promise<void> {
    const token = ctx.cookies.get(LINK_COOKIE, { signed: true });
    if (!token) throw new PageError(400, 'This page is over', 'Open the link of your invitation again.');
    this.site.redirect(ctx, `${this.#path}/${token}`);
  }

  async #find(ctx: KoaContextWithOIDC, token: string): Promise<Invitation> {
    const { accountId: userId = null } = await this.site.provider.Session.get(ctx as never);
    return this.site.store.host.read(async read => {
      const found = await invitedBy(read, token);
      if (!found) throw new PageError(404, 'There is nothing here', 'The address is wrong.');
      if (!found.open) throw OVER;
      const { staff } = found;
      return { token, staff, userId, step: await stepOf(read, staff, userId), app: await staffAppOf(read, staff.brandId) };
    });
  }

  /** Through the sign-in of the staff app, which sets a second factor up where there is none. `shown`: who has proven their address by this link. */
  async #signIn(ctx: KoaContextWithOIDC, { token, app }: { token: string; app: StaffApp }, shown: Shown | null): Promise<void> {
    const path = new URL(this.#path).pathname;
    ctx.cookies.set(LINK_COOKIE, token, { path, httpOnly: true, sameSite: 'lax', signed: true, maxAge: LINK_COOKIE_MS, overwrite: true });
    await this.own.begin(ctx, { clientId: app.id, returnTo: `${this.#path}/continue`, reason: 'invitation', shown });
  }

  async #accept(ctx: KoaContextWithOIDC, { token, userId, app }: Invitation): Promise<void> {
    await this.site.store.host
      .transaction(tx => acceptInvitation(tx, token, userId!), internalRequest(asPerson(userId!, '')))
      .catch(error => Promise.reject(error instanceof Problem && error.code !== 'unavailable' ? OVER : error)); // somebody was faster
    await this.site.tell(ctx, 200, 'Welcome', 'The invitation is accepted, and your roles are given.', { first: staffWay(app) });
  }

  /** Whoever has the link has the mailbox: the address is proven. The invitation stays open, because a second factor is owed. */
  #openAccount(token: string): Promise<string> {
    return this.site.store.host.transaction(
      async tx => {
        const found = await invitedBy(tx, token);
        if (!found?.open) throw OVER;
        const { email, displayName } = found.staff;
        return (await openAccount(tx, { email, emailVerified: true, displayName }, 'staff_invite')).id;
      },
      internalRequest(systemCaller('identity')),
    );
  }
}

/** Where staff work. */
function staffWay(app: StaffApp | null): Way[] {
  const href = app && homeOf(app);
  return href ? [{ href, label: `Open ${app.name}` }] : [];
}
