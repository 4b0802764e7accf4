import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { AuthChallenge, type AuthDelivery } from '../entities/challenge.js';
import { challengeState, MAX_DELIVERIES } from '../rules/challenges.js';
import { openField } from './challenge.js';

/** @throws Problem conflict for a challenge that is over or was delivered three times. */
function requireDeliverable(challenge: AuthChallenge, now: Date): void {
  const state = challengeState(challenge, now);
  if (state !== 'pending') fail('conflict', `a challenge that is ${state} is not delivered`, { reason: state });
  if (challenge.deliveries >= MAX_DELIVERIES) fail('conflict', 'a challenge is delivered three times', { reason: 'delivered' });
}

/** Address, link and code of a challenge; each delivery is counted, and after the last one the secrets are gone. @throws Problem. */
export async function deliver(ctx: Context, id: string): Promise<AuthDelivery> {
  const challenge = await lockRow(ctx, AuthChallenge, { id });
  requireDeliverable(challenge, ctx.now());
  const { channel, template, locale, expiresAt, recipientSealed, linkSealed, codeSealed } = challenge;
  const to = openField(ctx.host, 'recipient', id, recipientSealed)!;
  const link = openField(ctx.host, 'link', id, linkSealed);
  const code = openField(ctx.host, 'code', id, codeSealed);
  challenge.deliveries++;
  if (challenge.deliveries === MAX_DELIVERIES) Object.assign(challenge, { codeSealed: null, linkSealed: null });
  ctx.audit('challenge.delivered', id, { template, delivery: challenge.deliveries });
  return { channel, template, locale, expiresAt, to, link, code };
}
