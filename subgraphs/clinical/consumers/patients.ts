import { patientCreated, patientUpdated } from '../../../events/catalogue/patient-graph.js';
import { type Consumer, handle } from '../../../events/consumer.js';
import type { Envelope } from '../../../events/envelope.js';
import type { Context } from '../../../runtime/request/context.js';
import { preparation } from '../../../runtime/request/operation.js';
import { judgeAgain } from '../commands/judge-again.js';
import { askDemographics } from '../ports/demographics.js';

const known = preparation((ctx, event: Envelope) => askDemographics(ctx, event.user_id!));

const judge = (ctx: Context, event: Envelope): Promise<void> => judgeAgain(ctx, event.user_id!, known.of(ctx));

/**
 * Who a patient is has become known or has changed: the ranges of the last 24 months are chosen again. What is asked is what holds
 * now, so an older event that comes late does no harm; while patient-graph cannot be asked the event waits. Source: clinical 5.
 */
export const patients: Consumer<Context> = {
  name: 'clinical.patients',
  prepare: known.run,
  on: [handle(patientCreated, judge), handle(patientUpdated, judge)],
};
