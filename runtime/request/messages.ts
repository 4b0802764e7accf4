import { messageSendRequested } from '../../events/catalogue/comms.js';
import type { DataOf } from '../../events/define.js';
import { newId } from '../data/ids.js';
import type { Context } from './context.js';

type Requested = DataOf<typeof messageSendRequested>;

/** Whom comms is to write to. It finds the address itself: none is ever in an event. */
export type Recipient = { userId: string } | { staffId: string } | { staffRole: string } | { clientOwner: string } | { giftId: string };

export interface Message {
  /** Template of comms. */
  template: string;
  /** Default: e-mail; none leaves the choice to the template's topic. */
  channels?: Requested['channels'];
  /** Codes, ids and counts only: never an address, link, code or health value. */
  params: Requested['params'];
  /** The same one is not sent twice; at most 200 characters. */
  dedupeKey: string;
  category?: Requested['category'];
  /** Default: a new one. */
  id?: string;
  /** What the event is about where it concerns no user, for example `loop_proposal:<id>`. */
  subject?: string;
}

function recipientOf(to: Recipient): Pick<Requested, 'recipient_type' | 'recipient_id'> {
  if ('userId' in to) return { recipient_type: 'user', recipient_id: null };
  if ('staffId' in to) return { recipient_type: 'staff', recipient_id: to.staffId };
  if ('staffRole' in to) return { recipient_type: 'staff_role', recipient_id: to.staffRole };
  if ('giftId' in to) return { recipient_type: 'gift', recipient_id: to.giftId };
  return { recipient_type: 'client_owner', recipient_id: to.clientOwner };
}

/** Asks comms for a message, with this transaction. Source: comms, `comms.message.send_requested.v1`. */
export function requestMessage(ctx: Context, to: Recipient, message: Message): void {
  const { template, channels = ['email'], params, dedupeKey, category = 'transactional', id = newId(), subject } = message;
  const data = {
    request_id: id,
    template,
    channels,
    ...recipientOf(to),
    params,
    dedupe_key: dedupeKey.slice(0, 200),
    send_after: null,
    category,
  };
  ctx.emit(messageSendRequested, data, { userId: 'userId' in to ? to.userId : null, ...(subject !== undefined && { subject }) });
}
