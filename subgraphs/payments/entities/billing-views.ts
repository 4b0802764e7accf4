import { Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { VIEWERS } from './access.js';
import { InvoiceLineKind } from './enums-billing.js';
import { InvoiceLine } from './invoice.js';

export enum DunningSkipReason {
  HARD_DECLINE = 'hard_decline',
  CEILING = 'ceiling',
  NOT_DUE = 'not_due',
  IN_PROGRESS = 'in_progress',
  PAID = 'paid',
}

registerEnums({ DunningSkipReason });

/** What will be charged, as things stand. Its lines have no rows. */
@Access(VIEWERS)
@ObjectType({ description: 'A charge that is to come, as things stand.' })
export class InvoicePreview {
  @Field(() => Money)
  total: Money;

  @Field(() => Money, { description: 'After the credit of the customer.' })
  amountDue: Money;

  @Field(() => DateTime)
  chargeAt: Date;

  @Field(() => [InvoiceLine])
  lines: InvoiceLine[];
}

@ObjectType()
export class SkippedInvoice {
  @Field(() => ID)
  invoiceId: string;

  @Field(() => DunningSkipReason)
  reason: DunningSkipReason;
}

@ObjectType({ description: 'What a run of dunning has done.' })
export class DunningRun {
  @Field(() => ID)
  id: string;

  @Field(() => Int)
  attempted: number;

  @Field(() => Int)
  succeeded: number;

  @Field(() => Int)
  failed: number;

  @Field(() => [SkippedInvoice])
  skipped: SkippedInvoice[];

  @Field(() => Boolean)
  dryRun: boolean;
}

/** What a line of a preview is made of. */
export interface DraftLine {
  kind: InvoiceLineKind;
  description: string;
  amount: number;
  quantity?: number;
  priceId?: string | null;
  period?: { start: Date; end: Date } | null;
}

/** Lines that have no invoice. */
export const draftLines = (lines: readonly DraftLine[], currency: string): InvoiceLine[] =>
  lines.map(({ kind, description, amount, quantity = 1, priceId = null, period }, position) =>
    Object.assign(new InvoiceLine(), {
      position,
      kind,
      description,
      quantity,
      priceId,
      amountMinor: amount,
      currency,
      periodStart: period?.start ?? null,
      periodEnd: period?.end ?? null,
    }),
  );
