import type { Context } from '../../../runtime/request/context.js';
import { stored, type StoredDocument } from '../../../runtime/federation/federation.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { GuardFacts } from '../rules/guardrails.js';

/** Clinical and patient-graph may take so long before only what is safe is served, ms. Source: intelligence 4.3. */
const DEADLINE_MS = 300;

const GUARD = stored(`query IntelligenceGuard($id: ID!) {
  rankedUser(id: $id) { clinicalGuard { openFlagSeverities openCriticalAlerts activeInterventionKeys } }
}`);
const CODES = stored('query IntelligenceContraindications($id: ID!) { patient(id: $id) { contraindicationCodes } }');

interface GuardAnswer {
  rankedUser: {
    clinicalGuard: { openFlagSeverities: string[]; openCriticalAlerts: number; activeInterventionKeys: string[] } | null;
  };
}

interface CodesAnswer {
  patient: { contraindicationCodes: string[] } | null;
}

/** What was found out of an entity's safety before its ranking. */
export interface GuardAnswered {
  facts: GuardFacts;
  /** Red flags that events had reported and that clinical no longer has open: they hold nothing back. */
  closedFlags: readonly string[];
}

/** Nothing could be found out. */
export const UNKNOWN: GuardAnswered = {
  facts: { available: false, redFlagOpen: false, criticalLabOpen: false, contraindications: [], activeInterventions: [] },
  closedFlags: [],
};

/** Red flags that hold candidates back, as events have reported them; `info` holds nothing back. Source: intelligence 4.3. */
async function mirroredFlags(ctx: Context, entityId: string): Promise<string[]> {
  const rows = await ctx.sql<{ reference: string }>(
    `select reference from ${ctx.schema}.guard_state where entity_id = $1 and kind = 'red_flag' and severity is distinct from 'info'`,
    [entityId],
  );
  return rows.map(({ reference }) => reference);
}

const late = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }));

/** Asks through the federation with the client of this service. @throws where the answer is an error or late. */
const ask = <Answer>(ctx: Context, document: StoredDocument, id: string, deadline: Promise<never>): Promise<Answer> =>
  Promise.race([ctx.federation.run<Answer>(document, { id }), deadline]);

/** Codes `allergy:…`, `condition:…`, `med:…` of patient-graph. @throws where they cannot be known. */
async function contraindicationsOf(ctx: Context, entityId: string, deadline: Promise<never>): Promise<readonly string[]> {
  return (await ask<CodesAnswer>(ctx, CODES, entityId, deadline)).patient?.contraindicationCodes ?? [];
}

/**
 * What clinical's `User.clinicalGuard` answers about an entity, with patient-graph's contraindication codes where a candidate names some.
 * Clinical raises its events after its commits, so flags that events had reported before it was asked and that it has not open are closed.
 * Whatever fails or is late leaves the facts unavailable: then only what is safe is served. Source: intelligence 4.3, clinical 6.
 */
export async function guardFactsOf(ctx: Context, entityId: string, needsCodes: boolean): Promise<GuardAnswered> {
  const deadline = late(AbortSignal.timeout(DEADLINE_MS));
  deadline.catch(() => undefined); // nobody may be left to hear it
  try {
    ctx.host.fault('guard.source', entityId);
    const mirrored = await mirroredFlags(ctx, entityId);
    const [answer, contraindications] = await Promise.all([
      ask<GuardAnswer>(ctx, GUARD, entityId, deadline),
      needsCodes ? contraindicationsOf(ctx, entityId, deadline) : [],
    ]);
    return answered(answer, contraindications, mirrored);
  } catch (error) {
    ctx.log.warn({ err: loggedError(error) }, 'guard data could not be read; only what is safe is served');
    return UNKNOWN;
  }
}

function answered({ rankedUser }: GuardAnswer, contraindications: readonly string[], mirrored: readonly string[]): GuardAnswered {
  const guard = rankedUser.clinicalGuard;
  if (!guard) return UNKNOWN;
  const redFlagOpen = guard.openFlagSeverities.some(severity => severity !== 'INFO');
  return {
    facts: {
      available: true,
      redFlagOpen,
      criticalLabOpen: guard.openCriticalAlerts > 0,
      contraindications,
      activeInterventions: guard.activeInterventionKeys,
    },
    closedFlags: redFlagOpen ? [] : mirrored,
  };
}
