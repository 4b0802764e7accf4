import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { ProcessorEventStatus as Status } from '../entities/enums-operations.js';
import { PaymentProcessor } from '../entities/enums-payment.js';
import { ProcessorEvent } from '../entities/processor-event.js';
import { opened, sealed } from '../entities/sealed.js';
import { mirrorCharge, type PartnerCharge } from './telehealth.js';

/** A report of the partner, as an event brought it. */
export type PartnerReport = Omit<PartnerCharge, 'userId' | 'occurredAt'> & { partnerEventId: string; occurredAt: string };

const TABLE = 'partner_report';
const waitingFor = (partnerChargeId: string) => ({
  processor: PaymentProcessor.PARTNER,
  objectRef: partnerChargeId,
  status: Status.RECEIVED,
});

/** Keeps a report of a charge whose payer nobody knows yet; the same one again is known. */
async function keepAside(ctx: Context, report: PartnerReport): Promise<void> {
  const about = { processor: PaymentProcessor.PARTNER, processorEventId: report.partnerEventId };
  if (await findRow(ctx, ProcessorEvent, about)) return;
  const event = Object.assign(new ProcessorEvent(), about, {
    type: `integration.partner.charge.${report.state}.v1`,
    objectRef: report.partnerChargeId,
    receivedAt: ctx.now(),
  });
  event.bodySealed = sealed(ctx, report, TABLE, event.id);
  ctx.em.persist(event);
  ctx.audit('partner_report.kept_aside', event.id, { state: report.state });
}

/** What was kept of a charge, oldest first, is done with: applied, now that its payer is known. */
async function takeKept(ctx: Context, partnerChargeId: string): Promise<PartnerReport[]> {
  const kept = await ctx.em.find(ProcessorEvent, waitingFor(partnerChargeId), { orderBy: { receivedAt: 'asc', id: 'asc' } });
  const reports = kept.map(event => opened<PartnerReport>(ctx, event.bodySealed, TABLE, event.id)!);
  for (const event of kept) Object.assign(event, { status: Status.PROCESSED, processedAt: ctx.now(), attempts: 1, bodySealed: null });
  return reports.sort((a, b) => a.occurredAt.localeCompare(b.occurredAt));
}

/** Mirrors what an event of the partner says, or keeps it aside until the charge is linked to a user. Source: payments 5.2. */
export async function reportPartnerCharge(ctx: Context, userId: string | null, report: PartnerReport): Promise<void> {
  if (userId === null) return keepAside(ctx, report);
  for (const { partnerEventId: _, occurredAt, ...charge } of [...(await takeKept(ctx, report.partnerChargeId)), report])
    await mirrorCharge(ctx, { ...charge, userId, occurredAt: new Date(occurredAt) });
}
