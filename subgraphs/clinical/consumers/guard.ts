import { encounterRecorded, medicationPrescribed } from '../../../events/catalogue/patient-graph.js';
import { handle, type Consumer } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { EncounterPeriod } from '../entities/neighbours.js';
import { askContraindications } from '../ports/demographics.js';
import { flagContraindicated } from '../commands/red-flag-detect.js';

const codesOf = (ctx: Context): readonly string[] => ctx.facts as readonly string[];

const encountered = handle(encounterRecorded, async (ctx: Context, event) => {
  const { encounter_id: encounterId, period_start: startsAt } = event.data;
  await ctx.em.upsert(EncounterPeriod, { encounterId, patientId: event.user_id!, startsAt: new Date(startsAt) });
  await flagContraindicated(ctx, event.user_id!, codesOf(ctx));
});

const prescribed = handle(medicationPrescribed, async (ctx: Context, event) => {
  await flagContraindicated(ctx, event.user_id!, [...codesOf(ctx), `med:${event.data.medication}`]);
});

/** What was found or prescribed may contradict what runs: a red flag, and a clinician decides. Source: clinical 5. */
export const guard: Consumer<Context> = {
  name: 'clinical.guard',
  prepare: (ctx, event) => askContraindications(ctx, event.user_id!),
  on: [encountered, prescribed],
};
