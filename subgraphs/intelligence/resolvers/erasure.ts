import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { eraseEntity } from '../commands/erasure.js';
import { READERS } from '../entities/access.js';
import { EntityErasure } from '../entities/erasure.js';
import { EraseEntityInput } from '../inputs/policy.js';

@Resolver()
export class ErasureResolver {
  @Access(READERS)
  @Mutation(() => EntityErasure, { description: 'Deletes everything about an entity. Again: nothing is left to delete.' })
  eraseEntity(@Arg('input', () => EraseEntityInput) input: EraseEntityInput, @Ctx() ctx: Context): Promise<EntityErasure> {
    return eraseEntity(ctx, input);
  }
}
