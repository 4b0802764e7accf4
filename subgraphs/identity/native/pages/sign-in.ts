import { systemCaller } from '../../../../runtime/request/caller.js';
import { internalRequest } from '../../../../runtime/request/request.js';
import { endBrowserSession } from '../../commands/session.js';
import { noteDevice } from './known-device.js';
import { SecondFactor } from './second-factor.js';
import { asPerson, type Shown, type Site, type Turn } from './site.js';

/** The one place that every sign-in passes, whatever the first factor was: password, link, code or a new account. */
export async function passFirstFactor(site: Site, turn: Turn, shown: Shown): Promise<void> {
  const due = await new SecondFactor(site.store).begin(turn, shown);
  return due ? site.redirect(turn.ctx, turn.action) : completeSignIn(site, turn, shown);
}

/** All that was due is shown. */
export async function completeSignIn(site: Site, turn: Turn, { userId, amr }: Shown): Promise<void> {
  await recordSignIn(site, turn, userId);
  await leaveOther(site, turn, userId);
  await site.finish(turn, { login: { accountId: userId, amr: [...amr], ts: Math.floor(Date.now() / 1000) } });
}

/** Who signed in, or that somebody failed; never what was typed. */
export async function recordSignIn({ store }: Site, { ctx, app }: Turn, userId: string | null): Promise<void> {
  const caller = userId === null ? systemCaller('identity') : asPerson(userId, app.id);
  await store.host.transaction(async tx => {
    tx.audit(userId === null ? 'sign_in.failed' : 'sign_in.succeeded', userId, { client_id: app.id });
    if (userId === null) return;
    await tx.sql('update identity."user" set last_sign_in_at = $2 where id = $1', [userId, tx.now().toISOString()]);
    await noteDevice(tx, ctx, userId);
  }, internalRequest(caller));
}

/** Another account was signed in in this browser: its sign-in ends, and this interaction no longer belongs to it. */
async function leaveOther({ store }: Site, { interaction }: Turn, userId: string): Promise<void> {
  const { session } = interaction;
  if (!session?.accountId || session.accountId === userId) return;
  const caller = asPerson(session.accountId, String(interaction.params.client_id));
  await store.host.transaction(tx => endBrowserSession(tx, session.uid!), internalRequest(caller));
  interaction.session = undefined;
  await interaction.persist();
}
