import { patientCreated, patientUpdated } from '../../../events/catalogue/patient-graph.js';
import { handle, type Consumer } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { askDemographics } from '../ports/demographics.js';
import { judgeAgain } from '../commands/judge-again.js';
import type { Demographics } from '../rules/demographics.js';

const known = (ctx: Context, patientId: string): Promise<void> => judgeAgain(ctx, patientId, ctx.facts as Demographics | null);

/**
 * Who a patient is has become known or has changed: the ranges of the last 24 months are chosen again. What is asked is what holds
 * now, so an older event that comes late does no harm; while patient-graph cannot be asked the event waits. Source: clinical 5.
 */
export const patients: Consumer<Context> = {
  name: 'clinical.patients',
  prepare: (ctx, event) => askDemographics(ctx, event.user_id!),
  on: [
    handle(patientCreated, (ctx, event) => known(ctx, event.user_id!)),
    handle(patientUpdated, (ctx, event) => known(ctx, event.user_id!)),
  ],
};
