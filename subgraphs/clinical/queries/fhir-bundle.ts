import type { Context } from '../../../runtime/request/context.js';
import { after } from '../../../runtime/time/durations.js';
import { Biomarker } from '../entities/biomarker.js';
import { CheckIn } from '../entities/check-in.js';
import { Consult } from '../entities/consult.js';
import { CriticalAlert } from '../entities/critical-alert.js';
import { DoseLog } from '../entities/dose.js';
import { FhirExportRelease } from '../entities/fhir-export.js';
import { HealthScore } from '../entities/health-score.js';
import { Intervention } from '../entities/intervention.js';
import { LabReport } from '../entities/lab-report.js';
import { BiomarkerObservation } from '../entities/observation.js';
import { Protocol } from '../entities/protocol.js';
import { RedFlag, visibleAt } from '../entities/red-flag.js';
import { RetestCycle } from '../entities/retest-cycle.js';
import { HELD_BACK_MS, isHidden, notHeldBack } from '../entities/value-access.js';
import { Vial } from '../entities/vial.js';
import { bundleOf, patient, type Resource } from '../rules/fhir.js';
import * as care from './fhir-care.js';
import * as fhir from './fhir-resources.js';
import { STANDING } from './observation.js';

/** What is exported, and whether for a member, who does not see everything yet. */
export interface Exported {
  patientId: string;
  release: FhirExportRelease;
  isMember: boolean;
}

/** Results with a panel per draw, and reports with their results. */
async function laboratory(of: fhir.Export, patientId: string, results: readonly BiomarkerObservation[]): Promise<Resource[]> {
  const reports = await of.ctx.em.find(LabReport, { patientId }, { orderBy: { createdAt: 'asc' } });
  const draws = new Map<string, BiomarkerObservation[]>();
  for (const row of results) if (row.drawId) draws.set(row.drawId, [...(draws.get(row.drawId) ?? []), row]);
  const resultsOf = ({ id }: LabReport) => results.filter(one => one.reportId === id);
  return [
    ...results.map(row => fhir.observation(of, row)),
    ...[...draws.values()].map(rows => fhir.panel(rows)),
    ...reports.flatMap(row => fhir.report(row, resultsOf(row))),
  ];
}

async function plans(of: fhir.Export, patientId: string): Promise<Resource[]> {
  const { em } = of.ctx;
  const interventions = await em.find(Intervention, { patientId }, { orderBy: { createdAt: 'asc' } });
  const versions = interventions.flatMap(({ key, definitionVersion: version }) => (version === null ? [] : [{ key, version }]));
  const protocols = versions.length ? await em.find(Protocol, { $or: versions }) : [];
  const cycles = await em.find(RetestCycle, { patientId }, { orderBy: { createdAt: 'asc' } });
  const shown = cycles.filter(row => !of.isMember || !isHidden({ hiddenUntil: row.valuesHiddenUntil }, of.ctx.now()));
  return [
    ...protocols.map(row => fhir.plan(of, row)),
    ...interventions.map(row => fhir.carePlan(of, row)),
    ...shown.flatMap(row => fhir.cycle(of, row)),
  ];
}

/** Flags that the reader may see; alerts are never for members. */
async function warnings(of: fhir.Export, patientId: string): Promise<Resource[]> {
  const { isMember } = of;
  const flags = await of.ctx.em.find(RedFlag, { patientId, ...(isMember ? visibleAt(of.ctx.now()) : {}) });
  const alerts = isMember ? [] : await of.ctx.em.find(CriticalAlert, { patientId });
  return [...flags.map(row => care.flag(row)), ...alerts.map(row => care.issue(of, row))];
}

async function treatment(of: fhir.Export, patientId: string): Promise<Resource[]> {
  const { em } = of.ctx;
  const consults = await em.find(Consult, { patientId });
  const checkIns = await em.find(CheckIn, { patientId });
  const vials = await em.find(Vial, { patientId });
  const doses = await em.find(DoseLog, { patientId });
  const scores = await em.find(HealthScore, { patientId });
  return [
    ...scores.map(row => fhir.healthScore(of, row)),
    ...consults.map(row => care.encounter(of, row)),
    ...checkIns.map(row => care.questionnaire(of, row)),
    ...vials.map(row => care.medication(row)),
    ...doses.flatMap(row => care.administration(of, row)),
  ];
}

/** The part of a person's record as a FHIR Bundle, with the number of its resources; the person, to whom they refer, is not counted. */
export async function bundleFor(
  ctx: Context,
  { patientId, release, isMember }: Exported,
): Promise<{ resourceCount: number; bundle: object }> {
  const results = await ctx.em.find(
    BiomarkerObservation,
    { patientId, ...STANDING, ...(isMember && notHeldBack(ctx.now())) },
    { orderBy: { collectedAt: 'asc', id: 'asc' } },
  );
  const entries = await ctx.em.find(Biomarker, { supersededAt: null });
  const of: fhir.Export = {
    ctx,
    isMember,
    release: release === FhirExportRelease.R5 ? 'R5' : 'R4',
    markers: new Map(entries.map(one => [one.code, one])),
    newest: new Map(results.map(row => [row.code, row.id])),
  };
  const resources = [
    ...(await laboratory(of, patientId, results)),
    ...(await plans(of, patientId)),
    ...(await warnings(of, patientId)),
    ...(await treatment(of, patientId)),
  ];
  const all = resources.length ? [patient(patientId), ...resources] : [];
  const base = `${ctx.host.config.baseUrl}/clinical/fhir`;
  return { resourceCount: resources.length, bundle: bundleOf(all, of.release, base, ctx.now()) };
}

/** The resources of {@link bundleFor}, counted without reading the rows: $1 patient, $2 for a member, $3 now, $4 since when flags are held back. */
const COUNT = (schema: string): string => `select (
  (select count(*) + count(distinct draw_id) from ${schema}.observation where patient_id = $1 and superseded_by is null
     and status <> 'entered_in_error' and (not $2 or hidden_until is null or hidden_until <= $3))
  + (select 2 * count(*) from ${schema}.lab_report where patient_id = $1)
  + (select count(*) from ${schema}.intervention where patient_id = $1)
  + (select count(*) from ${schema}.protocol where (key, version) in
      (select key, definition_version from ${schema}.intervention where patient_id = $1))
  + (select count(*) + count(outcome_direction) from ${schema}.retest_cycle where patient_id = $1
       and (not $2 or values_hidden_until is null or values_hidden_until <= $3))
  + (select count(*) from ${schema}.red_flag where patient_id = $1
       and (not $2 or ((hidden_until is null or hidden_until <= $3) and (severity <> 'urgent' or acknowledged_at is not null or detected_at <= $4))))
  + (select count(*) from ${schema}.critical_alert where patient_id = $1 and not $2)
  + (select count(*) from ${schema}.health_score where patient_id = $1)
  + (select count(*) from ${schema}.consult where patient_id = $1)
  + (select count(*) from ${schema}.check_in where patient_id = $1)
  + (select count(*) from ${schema}.vial where patient_id = $1)
  + (select count(*) from ${schema}.dose_log where patient_id = $1 and status <> 'scheduled'))::int as resources`;

export async function countResources(ctx: Context, { patientId, isMember }: Exported): Promise<number> {
  const now = ctx.now();
  const heldSince = after(now, -HELD_BACK_MS);
  const [row] = await ctx.sql<{ resources: number }>(COUNT(ctx.schema), [patientId, isMember, now.toISOString(), heldSince.toISOString()]);
  return row!.resources;
}
