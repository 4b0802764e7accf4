import type { Envelope } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Values } from '../rules/content.js';
import { ask, type Draft } from './request.js';

export interface Told {
  template: string;
  /** Default: the event's id. */
  key?: string;
  params?: Values;
  entity?: { type: string; id: string };
  sendAfter?: Date;
  expiresAt?: Date;
  groupKey?: string;
  /** Default: the event's user. */
  to?: Pick<Draft, 'recipientType' | 'userId' | 'recipientId'>;
  digestId?: string;
  channels?: Draft['channels'];
}

/** Asks for the message that an event is about. One without a person, and no other recipient, is for nobody. */
export async function tell(ctx: Context, event: Envelope, told: Told | null): Promise<void> {
  if (told === null) return;
  const to = told.to ?? { recipientType: 'user' as const, userId: event.user_id };
  if (to.recipientType === 'user' && to.userId === null) return;
  const { key, template, ...rest } = told;
  await ask(ctx, {
    source: event.source,
    dedupeKey: `${template}:${key ?? event.id}`,
    template,
    brandId: event.brand_id,
    ...rest,
    ...to,
  });
}
