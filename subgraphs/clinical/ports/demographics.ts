import type { Context } from '../../../runtime/request/context.js';
import { stored } from '../../../runtime/federation/federation.js';
import type { Demographics } from '../rules/demographics.js';

/** patient-graph may take so long before a write goes on without it, ms. Source: clinical 2. */
const DEADLINE_MS = 2000;

const ASK = stored(
  `query ClinicalDemographics($ids: [ID!]!, $id: ID!) {
    patientDemographics(userIds: $ids) { sexAtBirth birthDate timeZone }
    patient(id: $id) { contraindicationCodes }
  }`,
);
const ASK_CODES = stored('query ClinicalContraindications($id: ID!) { patient(id: $id) { contraindicationCodes } }');

interface Answer {
  patientDemographics: ({ sexAtBirth: string | null; birthDate: string | null; timeZone: string | null } | null)[];
  patient: { contraindicationCodes: string[] } | null;
}

/** The answer within the deadline; null when the neighbour is absent, refuses or is late. Never throws: a result is stored without it. */
async function within<T>(ctx: Context, asked: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>(resolve => (timer = setTimeout(resolve, DEADLINE_MS, null)));
  try {
    return await Promise.race([asked, late]);
  } catch (error) {
    ctx.log.debug({ err: (error as Error).name }, 'patient-graph could not be asked');
    return null;
  } finally {
    clearTimeout(timer);
  }
}

const CONDITION = 'condition:';

/** Demographics and conditions of a patient; null where patient-graph knows nothing of it. @throws when it cannot be asked. */
export async function askDemographics(ctx: Context, patientId: string): Promise<Demographics | null> {
  const { patientDemographics, patient } = await ctx.federation.run<Answer>(ASK, { ids: [patientId], id: patientId });
  const codes = patient?.contraindicationCodes ?? [];
  const conditions = codes.filter(code => code.startsWith(CONDITION)).map(code => code.slice(CONDITION.length));
  const [known] = patientDemographics;
  return known ? { ...known, conditions } : null;
}

/**
 * Demographics of a patient, asked of patient-graph before the write transaction; null where it is absent, late or knows nothing,
 * and then only ranges for everybody apply (`range_basis: unqualified`). Source: clinical 2, range choice; 6.
 */
export const demographicsOf = (ctx: Context, patientId: string): Promise<Demographics | null> =>
  within(ctx, askDemographics(ctx, patientId));

/** Codes `allergy:…`, `condition:…`, `med:…` of a patient. @throws when patient-graph cannot be asked. */
export async function askContraindications(ctx: Context, patientId: string): Promise<readonly string[]> {
  const { patient } = await ctx.federation.run<Pick<Answer, 'patient'>>(ASK_CODES, { id: patientId });
  return patient?.contraindicationCodes ?? [];
}

/** The same, null where patient-graph is absent or late. Source: clinical 6. */
export const contraindicationsOf = (ctx: Context, patientId: string): Promise<readonly string[] | null> =>
  within(ctx, askContraindications(ctx, patientId));
