import { ArgsType, Field, ID } from 'type-graphql';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { FhirExportRelease } from '../entities/fhir-export.js';

@ArgsType()
export class ClinicalExportArgs {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Required for service and staff tokens.' })
  userId?: string | null;

  @Field(() => FhirExportRelease, { defaultValue: FhirExportRelease.R4 })
  release: FhirExportRelease;
}
