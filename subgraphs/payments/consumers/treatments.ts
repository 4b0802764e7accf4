import { consultCompleted } from '../../../events/catalogue/clinical.js';
import { partnerTreatmentCancelled } from '../../../events/catalogue/partner.js';
import { handle, type Consumer } from '../../../events/consumer.js';
import type { Envelope } from '../../../events/envelope.js';
import type { Context } from '../../../runtime/request/context.js';
import { preparation } from '../../../runtime/request/operation.js';
import { endTreatment } from '../commands/treatment.js';
import { isRefused } from '../ports/consults.js';

/** Whether the treatment of a consult was refused; nobody asks about what clinical does not have. */
const refused = preparation(async (ctx: Context, { data }: Envelope<{ consult_id: string }>) => isRefused(ctx, data.consult_id));

/** A refused consult ends what was subscribed to for its treatment. Source: payments 5.2. */
export const consults: Consumer<Context> = {
  name: 'payments.consults',
  prepare: refused.run,
  on: [
    handle(consultCompleted, async (ctx: Context, { user_id, data }) => {
      if (user_id && refused.of(ctx)) await endTreatment(ctx, user_id, 'consult_id', data.consult_id, 'treatment_refused');
    }),
  ],
};

/** So does a treatment that its partner has ended. */
export const treatments: Consumer<Context> = {
  name: 'payments.treatments',
  on: [
    handle(partnerTreatmentCancelled, async (ctx: Context, { user_id, data }) => {
      if (user_id) await endTreatment(ctx, user_id, 'treatment_ref', data.treatment_ref, 'treatment_cancelled');
    }),
  ],
};
