import type { EntityClass } from '@mikro-orm/postgresql';
import { Arg, Ctx, Field, ID, Mutation, ObjectType, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access.js';
import { Context } from '../../../runtime/context.js';
import { eraseUser, type ErasureOutcome, type ErasureRequest } from '../../../runtime/erasure.js';
import { JSONObject } from '../../../runtime/scalars.js';
import { BiomarkerObservation } from '../entities/observation.js';
import { Intervention } from '../entities/intervention.js';
import { LabOrderMarker } from '../entities/lab-order-marker.js';
import { RetestCycle } from '../entities/retest-cycle.js';
import { EraseClinicalRecordInput } from '../inputs/retest-cycle.js';
import { lockPatient } from './patient.js';

@Access({ service: 'admin:clinical' })
@ObjectType({ description: "What the erasure of a patient's clinical record removed." })
export class ClinicalErasure {
  @Field(() => ID)
  patientId: string;

  @Field(() => String, { description: 'erased, or nothing_held.' })
  outcome: string;

  @Field(() => JSONObject, { description: 'Rows deleted per table.' })
  records: Readonly<Record<string, number>>;
}

/** Every table that is keyed by `patient_id`; cycles before what they were measured by. */
const TABLES: Readonly<Record<string, EntityClass<{ patientId: string }>>> = {
  retest_cycle: RetestCycle,
  observation: BiomarkerObservation,
  intervention: Intervention,
  lab_order_marker: LabOrderMarker,
};

/**
 * Deletes all rows of a patient, cycles included, in one transaction; what is left are counts in the audit log. A handler or sweep
 * that comes later finds nothing. Source: spec 1, Re-test cycle 8; clinical 7.1.17.
 */
export async function erase(ctx: Context, { userId, scope }: ErasureRequest): Promise<ErasureOutcome> {
  if (scope === 'marketing') return { outcome: 'nothing_held', records: {} };
  await lockPatient(ctx, userId);
  const records: Record<string, number> = {};
  for (const [table, entity] of Object.entries(TABLES)) records[table] = await ctx.em.nativeDelete(entity, { patientId: userId });
  const held = Object.values(records).some(count => count > 0);
  return { outcome: held ? 'erased' : 'nothing_held', records };
}

@Resolver()
export class ErasureResolver {
  @Access({ service: 'admin:clinical' })
  @Mutation(() => ClinicalErasure, { description: "Deletes a patient's clinical record. Again: nothing is left to delete." })
  async eraseClinicalRecord(
    @Arg('input', () => EraseClinicalRecordInput) input: EraseClinicalRecordInput,
    @Ctx() ctx: Context,
  ): Promise<ClinicalErasure> {
    const patientId = input.patientId.toLowerCase();
    const { outcome, records } = await eraseUser(ctx, erase, { userId: patientId, requestId: ctx.request.id, scope: 'health' });
    return { patientId, outcome, records };
  }
}
