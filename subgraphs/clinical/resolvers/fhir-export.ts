import { Arg, Args, Ctx, ID, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { exportRecord } from '../commands/fhir-export.js';
import { ClinicalExport, EXPORTERS } from '../entities/fhir-export.js';
import { hidesCritical } from '../entities/value-access.js';
import { ClinicalExportArgs } from '../inputs/fhir-export.js';
import { findExport } from '../queries/fhir-export.js';
import { patientOf } from '../queries/patient.js';

@Resolver()
export class FhirExportResolver {
  @Access({ ...EXPORTERS, self: true })
  @Query(() => ClinicalExport, {
    description:
      "Clinical's part of a person's record as a FHIR Bundle; what a member may not see yet is left out. Above 1,000 resources it is RUNNING, and `clinicalExportById` has it later.",
  })
  clinicalExport(@Args(() => ClinicalExportArgs) { userId, release }: ClinicalExportArgs, @Ctx() ctx: Context): Promise<ClinicalExport> {
    return exportRecord(ctx, { patientId: patientOf(ctx, userId), release, isMember: hidesCritical(ctx.caller) });
  }

  @Access(EXPORTERS)
  @Query(() => ClinicalExport, {
    nullable: true,
    description: 'An export that is made afterwards, for who asked for it, until an hour after that.',
  })
  clinicalExportById(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<ClinicalExport | null> {
    return findExport(ctx, id);
  }
}
