import { encounterRecorded, medicationPrescribed } from '../../../events/catalogue/patient-graph.js';
import { type Consumer, handle } from '../../../events/consumer.js';
import type { Envelope } from '../../../events/envelope.js';
import type { Context } from '../../../runtime/request/context.js';
import { preparation } from '../../../runtime/request/operation.js';
import { flagContraindicated, recordEncounter } from '../commands/red-flag.js';
import { askContraindications } from '../ports/demographics.js';

/** Contraindication codes of the patient; the event waits while patient-graph cannot be asked. */
const codes = preparation((ctx, event: Envelope) => askContraindications(ctx, event.user_id!));

const encountered = handle(encounterRecorded, (ctx: Context, { user_id: patientId, data }) =>
  recordEncounter(ctx, { encounterId: data.encounter_id, patientId: patientId!, startsAt: new Date(data.period_start) }, codes.of(ctx)),
);

const prescribed = handle(medicationPrescribed, (ctx: Context, event) =>
  flagContraindicated(ctx, event.user_id!, [...codes.of(ctx), `med:${event.data.medication}`]),
);

/** What was found or prescribed may contradict what runs: a red flag, and a clinician decides. Source: clinical 5. */
export const guard: Consumer<Context> = { name: 'clinical.guard', prepare: codes.run, on: [encountered, prescribed] };
