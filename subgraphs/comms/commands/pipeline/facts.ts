import type { Context } from '../../../../runtime/request/context.js';
import { Problem } from '../../../../runtime/request/errors.js';
import { CommsLockScreenDetail, PushSubscriptionStatus } from '../../entities/enums.js';
import { CommsSendRequest, type CommsMessage } from '../../entities/message.js';
import { DigestItem } from '../../entities/records.js';
import { PushSubscription } from '../../entities/suppression.js';
import { brandAmong, brandsOf, defaultQuiet, type BrandFacts } from '../../ports/brands.js';
import { peopleOf, type Person } from '../../ports/people.js';
import type { Values } from '../../rules/content.js';
import type { Wishes, ZoneFacts } from '../../rules/policy.js';
import { choicesOf, wishesOf, zoneFor } from '../choices.js';
import { openJson } from '../sealed.js';
import { latelyOf } from './caps.js';
import { localeChain, templateFor, type KnownTemplate } from './versions.js';

/** What is known of a message before it is looked at. */
export interface Facts {
  message: CommsMessage;
  request: CommsSendRequest | null;
  params: Values;
  /** Codes of a bundle. */
  codes: readonly string[];
  brand: BrandFacts;
  person: { person: Person; zone: ZoneFacts; wishes: Wishes; shown: boolean } | null;
  template: KnownTemplate | null;
  chain: readonly string[];
  sentLately: number;
  devices: readonly PushSubscription[];
}

/** Gathers what is stored of a claim, and asks identity for its people in one document. @throws Problem unavailable. */
export async function factsOf(ctx: Context, messages: readonly CommsMessage[]): Promise<Facts[]> {
  const of = messages.filter(one => !one.isAuth && one.userId !== null);
  const userIds = [...new Set(of.map(one => one.userId!))];
  const [people, brands, quiet] = await Promise.all([peopleOf(ctx, userIds), brandsOf(ctx), defaultQuiet(ctx)]);
  const requests = await ctx.em.find(CommsSendRequest, { id: { $in: messages.flatMap(one => one.requestId ?? []) } });
  const choices = await choicesOf(ctx, userIds);
  const devices = await ctx.em.find(PushSubscription, { userId: { $in: userIds }, status: PushSubscriptionStatus.ACTIVE });
  const items = await ctx.em.find(
    DigestItem,
    { digestId: { $in: messages.flatMap(one => one.digestId ?? []) } },
    { orderBy: { id: 'asc' } },
  );
  const lately = await latelyOf(ctx, of);
  const facts: Facts[] = [];
  for (const message of messages) {
    const person = message.isAuth || message.userId === null ? null : (people.get(message.userId) ?? gone(message.userId));
    const brand = brandAmong(brands, message.brandId ?? person?.brandId ?? null);
    const own = person && choices(person.id);
    const request = requests.find(({ id }) => id === message.requestId) ?? null;
    facts.push({
      message,
      request,
      params: request?.paramsSealed ? openJson<Values>(ctx.host, 'send_request.params', request.id, request.paramsSealed) : {},
      codes: items
        .filter(one => one.digestId === message.digestId)
        .map(one => openJson<string>(ctx.host, 'digest_item.ref', one.id, one.refSealed)),
      brand,
      person: person && {
        person,
        zone: zoneFor(own!, person, brand.timeZone),
        wishes: wishesOf(own!, person.marketingConsent, quiet),
        shown: own!.choices.lockScreenDetail === CommsLockScreenDetail.SHOWN,
      },
      template: await templateFor(ctx, message.template, brand.id),
      chain: localeChain(person?.locale ?? null, brand.defaultLocale),
      sentLately: lately(message),
      devices: devices.filter(one => one.userId === message.userId && one.platform === 'web'),
    });
  }
  return facts;
}

/** Whom identity does not know has been erased. */
const gone = (id: string): Person => ({
  id,
  status: 'ERASED',
  email: null,
  emailVerified: false,
  phone: null,
  phoneVerified: false,
  brandId: null,
  locale: null,
  timeZone: null,
  marketingConsent: false,
});

export const isUnavailable = (error: unknown): boolean =>
  !(error instanceof Problem) || error.code === 'unavailable' || error.code === 'internal';
