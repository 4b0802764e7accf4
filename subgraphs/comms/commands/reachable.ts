import type { Context } from '../../../runtime/request/context.js';
import { CommsChannel, PushSubscriptionStatus } from '../entities/enums.js';
import type { CommsReachable, MentionDigestPreference } from '../entities/preferences.js';
import { CommsSuppression, PushSubscription } from '../entities/suppression.js';
import { brandAmong, brandsOf } from '../ports/brands.js';
import { peopleOf } from '../ports/people.js';
import { choicesOf, zoneFor } from './choices.js';
import { hashFor } from './pipeline/decide.js';
import { preferencesOf } from './preferences.js';

async function isOpen(ctx: Context, channel: CommsChannel, address: string | null, isVerified: boolean): Promise<boolean> {
  if (address === null || !isVerified) return false;
  const stops = await ctx.em.find(CommsSuppression, { channel, addressHash: hashFor(ctx, channel, address), scope: 'all' });
  return stops.length === 0;
}

/** By which channels a person can be reached now. @throws Problem unavailable. */
export async function reachableBy(ctx: Context, userId: string): Promise<CommsReachable> {
  const person = (await peopleOf(ctx, [userId])).get(userId);
  const { channels } = await preferencesOf(ctx, userId);
  const devices = await ctx.em.count(PushSubscription, { userId, status: PushSubscriptionStatus.ACTIVE });
  return {
    email: channels.email && (await isOpen(ctx, CommsChannel.EMAIL, person?.email ?? null, person?.emailVerified ?? false)),
    sms: channels.sms && (await isOpen(ctx, CommsChannel.SMS, person?.phone ?? null, person?.phoneVerified ?? false)),
    push: channels.push && devices > 0,
  };
}

/** How and when community is to tell a person of mentions. */
export async function digestPreferenceOf(ctx: Context, userId: string): Promise<MentionDigestPreference> {
  const [{ digest }, people, brands, choices] = await Promise.all([
    preferencesOf(ctx, userId),
    peopleOf(ctx, [userId]),
    brandsOf(ctx),
    choicesOf(ctx, [userId]),
  ]);
  const person = people.get(userId);
  const { zone } = zoneFor(
    choices(userId),
    { timeZone: person?.timeZone ?? null, phone: person?.phone ?? null },
    brandAmong(brands, person?.brandId ?? null).timeZone,
  );
  return { ...digest, timeZone: zone };
}
