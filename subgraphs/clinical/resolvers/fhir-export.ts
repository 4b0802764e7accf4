import { Arg, Args, Ctx, ID, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { Context } from '../../../runtime/request/context.js';
import { askerOf, startExport } from '../commands/fhir-export-work.js';
import { auditRead } from '../commands/read-audit.js';
import { ClinicalExport, ClinicalExportStatus, EXPORTERS, FhirExport } from '../entities/fhir-export.js';
import { hidesCritical, visibleRows } from '../entities/value-access.js';
import { ClinicalExportArgs } from '../inputs/fhir-export.js';
import { bundleFor, countResources, type Exported } from '../queries/fhir-bundle.js';
import { patientOf } from '../queries/patient.js';

/** A larger export is made afterwards. Source: clinical 4, FHIR export. */
const MOST_AT_ONCE = 1000;

const shown = (ctx: Context, row: FhirExport): ClinicalExport => {
  if (row.status === ClinicalExportStatus.RUNNING) ctx.status(202);
  return { id: row.id, status: row.status, resourceCount: row.resourceCount, bundle: row.open(ctx), expiresAt: row.expiresAt };
};

async function atOnce(ctx: Context, asked: Exported): Promise<ClinicalExport> {
  const made = await bundleFor(ctx, asked);
  await auditRead(ctx, 'fhir_export', [asked]);
  return { id: null, status: ClinicalExportStatus.COMPLETE, expiresAt: null, ...made };
}

@Resolver()
export class FhirExportResolver {
  @Access({ ...EXPORTERS, user: ['read:clinical', 'read:biomarkers'], self: true })
  @Query(() => ClinicalExport, {
    description:
      "Clinical's part of a person's record as a FHIR Bundle; what a member may not see yet is left out. Above 1,000 resources it is RUNNING, and `clinicalExportById` has it later.",
  })
  async clinicalExport(
    @Args(() => ClinicalExportArgs) { userId, release }: ClinicalExportArgs,
    @Ctx() ctx: Context,
  ): Promise<ClinicalExport> {
    const asked = { patientId: patientOf(ctx, userId), release, isMember: hidesCritical(ctx.caller) };
    return (await countResources(ctx, asked)) > MOST_AT_ONCE ? shown(ctx, await startExport(ctx, asked)) : atOnce(ctx, asked);
  }

  @Access({ ...EXPORTERS, user: ['read:clinical', 'read:biomarkers'] })
  @Query(() => ClinicalExport, {
    nullable: true,
    description: 'An export that is made afterwards, for who asked for it, until an hour after that.',
  })
  async clinicalExportById(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<ClinicalExport | null> {
    const where = {
      id: id.toLowerCase(),
      asker: askerOf(ctx.caller),
      expiresAt: { $gt: ctx.now() },
      ...visibleRows(ctx.caller),
      ...(hidesCritical(ctx.caller) && { isMember: true }), // staff no longer
    };
    const row = isUuid(id) ? await ctx.em.findOne(FhirExport, where, { populate: ['bundleSealed'] as never }) : null;
    if (row?.status === ClinicalExportStatus.COMPLETE) await auditRead(ctx, 'fhir_export', [row]);
    return row && shown(ctx, row);
  }
}
