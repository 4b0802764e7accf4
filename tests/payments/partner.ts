import * as partner from '../../events/catalogue/partner.js';
import { emitAsOwner } from '../platform/foreign-events.js';
import type { TestPlatform } from '../support/platform.js';

const EVENTS = {
  authorized: partner.partnerChargeAuthorized,
  captured: partner.partnerChargeCaptured,
  failed: partner.partnerChargeFailed,
  refunded: partner.partnerChargeRefunded,
  disputed: partner.partnerChargeDisputed,
};

/** Publishes a report of the telehealth partner in the name of its service, which need not be there. */
export async function publish(p: TestPlatform, state: keyof typeof EVENTS, userId: string | null, data: object): Promise<void> {
  const subject = userId === null ? { subject: `partner_charge:${(data as { charge_ref: string }).charge_ref}` } : {};
  await emitAsOwner(p, EVENTS[state] as never, data as never, { userId, ...subject } as never);
  p.host('payments').transport.wake();
}
