import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { sha256 } from '../../../runtime/data/crypto.js';
import type { Context } from '../../../runtime/request/context.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { requestErasure, updateErasureRequest } from '../commands/erasure-request.js';
import { ErasureReceipt, ErasureRequest, ErasureTask } from '../entities/erasure.js';
import { User } from '../entities/user.js';
import { RequestErasureInput, UpdateErasureRequestInput } from '../inputs/erasure.js';
import { erasureRequestOf, tasksOf } from '../queries/erasure.js';

const RULE = { service: 'admin:identity', staff: 'admin:identity:erasure', user: 'read:account' } as const;
const READS = { service: 'admin:identity', user: 'read:account', staff: 'admin:identity:erasure', internal: true } as const;

@Resolver(() => ErasureRequest)
export class ErasureRequestResolver {
  @Access({ ...RULE, firstParty: true, stepUp: 600 })
  @Mutation(() => ErasureRequest, { description: "Asks that a user's data be erased; a user's own request waits 72 hours." })
  requestErasure(@Arg('input', () => RequestErasureInput) input: RequestErasureInput, @Ctx() ctx: Context): Promise<ErasureRequest> {
    return requestErasure(ctx, input);
  }

  @Access(RULE)
  @Query(() => ErasureRequest, { nullable: true })
  erasureRequest(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<ErasureRequest | null> {
    return erasureRequestOf(ctx, id);
  }

  @Access({ ...RULE, firstParty: true, internal: true })
  @Mutation(() => ErasureRequest, { description: 'One step of a request: a new status, or what services have done.' })
  updateErasureRequest(
    @Arg('input', () => UpdateErasureRequestInput) input: UpdateErasureRequestInput,
    @Ctx() ctx: Context,
  ): Promise<ErasureRequest> {
    return updateErasureRequest(ctx, input);
  }

  @Access({ public: true })
  @Query(() => ErasureReceipt, {
    nullable: true,
    description: 'What the holder of a receipt address may know; works after the account is gone.',
  })
  erasureReceipt(@Rule({ maxLength: 64 }) @Arg('token', () => String) token: string, @Ctx() ctx: Context): Promise<ErasureReceipt | null> {
    return ctx.em.findOne(ErasureRequest, { receiptTokenHash: sha256(token) });
  }

  @Access(READS)
  @FieldResolver(() => User)
  user(@Root() request: ErasureRequest, @Ctx() ctx: Context): Promise<User> {
    return ctx.em.findOneOrFail(User, { id: request.userId });
  }

  @Access(READS)
  @FieldResolver(() => [ErasureTask], { description: 'One for each service that holds such data, once it has begun.' })
  tasks(@Root() request: ErasureRequest, @Ctx() ctx: Context): Promise<ErasureTask[]> {
    return tasksOf(ctx, request);
  }
}
