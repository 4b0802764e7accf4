import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { eraseClinicalRecord } from '../commands/erasure.js';
import { ClinicalErasure } from '../entities/erasure.js';
import { EraseClinicalRecordInput } from '../inputs/erasure.js';

@Resolver()
export class ErasureResolver {
  @Access({ service: 'admin:clinical' })
  @Mutation(() => ClinicalErasure, { description: "Deletes a patient's clinical record. Again: nothing is left to delete." })
  eraseClinicalRecord(
    @Arg('input', () => EraseClinicalRecordInput) input: EraseClinicalRecordInput,
    @Ctx() ctx: Context,
  ): Promise<ClinicalErasure> {
    return eraseClinicalRecord(ctx, input);
  }
}
