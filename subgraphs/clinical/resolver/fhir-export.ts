import { Args, ArgsType, Ctx, Field, ID, Int, ObjectType, Query, registerEnumType, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access.js';
import { Context } from '../../../runtime/context.js';
import { JSONObject } from '../../../runtime/scalars.js';
import { Rule } from '../../../runtime/rule.js';
import { Biomarker } from '../entities/biomarker.js';
import { CheckIn } from '../entities/check-in.js';
import { Consult } from '../entities/consult.js';
import { CriticalAlert } from '../entities/critical-alert.js';
import { DoseLog } from '../entities/dose.js';
import { HealthScore } from '../entities/health-score.js';
import { Intervention } from '../entities/intervention.js';
import { LabReport } from '../entities/lab-report.js';
import { BiomarkerObservation, BiomarkerObservationStatus as Status } from '../entities/observation.js';
import { Protocol } from '../entities/protocol.js';
import { RedFlag, visibleAt } from '../entities/red-flag.js';
import { RetestCycle } from '../entities/retest-cycle.js';
import { heldBack, hidesCritical } from '../entities/value-access.js';
import { Vial } from '../entities/vial.js';
import { UUID } from '../inputs/patterns.js';
import { bundleOf, type Resource } from '../rules/fhir.js';
import * as fhir from './fhir-resources.js';
import { patientOf } from './patient.js';
import { auditRead } from './read-audit.js';

export enum FhirExportRelease {
  R4 = 'r4',
  R5 = 'r5',
}
registerEnumType(FhirExportRelease, { name: 'FhirExportRelease', description: 'R4 is 4.0.1.' });

@ArgsType()
export class ClinicalExportArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Required for service and staff tokens.' })
  userId?: string | null;

  @Field(() => FhirExportRelease, { defaultValue: FhirExportRelease.R4 })
  release: FhirExportRelease;
}

const EXPORTERS = { service: 'admin:clinical', staff: 'admin:clinical:read', internal: ['patient-graph'] as const };

@Access({ ...EXPORTERS, user: ['read:clinical', 'read:biomarkers'] })
@ObjectType({ description: "Clinical's part of a person's record, in FHIR." })
export class ClinicalExport {
  @Field(() => Int)
  resourceCount: number;

  @Field(() => JSONObject, { description: 'A FHIR Bundle of type collection.' })
  bundle: object;
}

/** Results with a panel per draw, and reports with their results. */
async function laboratory(of: fhir.Export, patientId: string, results: readonly BiomarkerObservation[]): Promise<Resource[]> {
  const reports = await of.ctx.em.find(LabReport, { patientId }, { orderBy: { createdAt: 'asc' } });
  const draws = new Map<string, BiomarkerObservation[]>();
  for (const row of results) if (row.drawId) draws.set(row.drawId, [...(draws.get(row.drawId) ?? []), row]);
  return [
    ...results.map(row => fhir.observation(of, row)),
    ...[...draws.values()].map(rows => fhir.panel(rows)),
    ...reports.flatMap(row => fhir.report(row, results.filter(one => one.reportId === row.id))), // prettier-ignore
  ];
}

async function plans(of: fhir.Export, patientId: string): Promise<Resource[]> {
  const { em } = of.ctx;
  const interventions = await em.find(Intervention, { patientId }, { orderBy: { createdAt: 'asc' } });
  const versions = interventions.flatMap(({ key, definitionVersion: version }) => (version === null ? [] : [{ key, version }]));
  const protocols = versions.length ? await em.find(Protocol, { $or: versions }) : [];
  const cycles = await em.find(RetestCycle, { patientId }, { orderBy: { createdAt: 'asc' } });
  const shown = cycles.filter(
    row => !hidesCritical(of.ctx.caller) || row.valuesHiddenUntil === null || row.valuesHiddenUntil <= of.ctx.now(),
  );
  return [
    ...protocols.map(row => fhir.plan(of, row)),
    ...interventions.map(row => fhir.carePlan(of, row)),
    ...shown.flatMap(row => fhir.cycle(of, row)),
  ];
}

/** Flags that the caller may see; alerts are never for members. */
async function warnings(of: fhir.Export, patientId: string): Promise<Resource[]> {
  const isMember = hidesCritical(of.ctx.caller);
  const flags = await of.ctx.em.find(RedFlag, { patientId, ...(isMember && visibleAt(of.ctx.now())) } as never);
  const alerts = isMember ? [] : await of.ctx.em.find(CriticalAlert, { patientId });
  return [...(flags as RedFlag[]).map(row => fhir.flag(row)), ...alerts.map(row => fhir.issue(of, row))];
}

async function care(of: fhir.Export, patientId: string): Promise<Resource[]> {
  const { em } = of.ctx;
  const consults = await em.find(Consult, { patientId });
  const checkIns = await em.find(CheckIn, { patientId });
  const vials = await em.find(Vial, { patientId });
  const doses = await em.find(DoseLog, { patientId });
  const scores = await em.find(HealthScore, { patientId });
  return [
    ...scores.map(row => fhir.healthScore(of, row)),
    ...consults.map(row => fhir.encounter(of, row)),
    ...checkIns.map(row => fhir.questionnaire(of, row)),
    ...vials.map(row => fhir.medication(row)),
    ...doses.flatMap(row => fhir.administration(of, row)),
  ];
}

@Resolver()
export class FhirExportResolver {
  @Access({ ...EXPORTERS, user: ['read:clinical', 'read:biomarkers'], self: true })
  @Query(() => ClinicalExport, {
    description: "Clinical's part of a person's record as a FHIR Bundle; what a member may not see yet is left out.",
  })
  async clinicalExport(
    @Args(() => ClinicalExportArgs) { userId, release }: ClinicalExportArgs,
    @Ctx() ctx: Context,
  ): Promise<ClinicalExport> {
    const patientId = patientOf(ctx, userId);
    const results = await ctx.em.find(
      BiomarkerObservation,
      { patientId, supersededBy: null, status: { $ne: Status.ENTERED_IN_ERROR }, ...heldBack(ctx) },
      { orderBy: { collectedAt: 'asc', id: 'asc' } },
    );
    const entries = await ctx.em.find(Biomarker, { supersededAt: null });
    const of: fhir.Export = {
      ctx,
      release: release === FhirExportRelease.R5 ? 'R5' : 'R4',
      markers: new Map(entries.map(one => [one.code, one])),
      newest: new Map(results.map(row => [row.code, row.id])),
    };
    const resources = [
      ...(await laboratory(of, patientId, results)),
      ...(await plans(of, patientId)),
      ...(await warnings(of, patientId)),
      ...(await care(of, patientId)),
    ];
    await auditRead(ctx, 'fhir_export', [{ patientId }]);
    return { resourceCount: resources.length, bundle: bundleOf(resources, ctx.now()) };
  }
}
