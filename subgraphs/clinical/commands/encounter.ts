import type { Context } from '../../../runtime/request/context.js';
import { EncounterPeriod } from '../entities/neighbours.js';
import { flagContraindicated } from './red-flag.js';

/** Keeps when an encounter began, so that its results are told from others, and judges what runs by what was found. */
export async function recordEncounter(ctx: Context, encounter: EncounterPeriod, codes: readonly string[]): Promise<void> {
  await ctx.em.upsert(EncounterPeriod, encounter);
  await flagContraindicated(ctx, encounter.patientId, codes);
}
