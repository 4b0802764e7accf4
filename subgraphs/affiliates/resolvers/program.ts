import { Arg, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { mayAccess, ruleOf } from '../../../runtime/access/access.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { Money } from '../../../runtime/schema/scalars.js';
import { brandHosts, createProgram, updateProgram } from '../commands/program.js';
import { ANYBODY, PROGRAM_WRITERS } from '../entities/access.js';
import { AffiliateProgram, CommissionTier } from '../entities/program.js';
import { CreateAffiliateProgramInput, UpdateAffiliateProgramInput } from '../inputs/program.js';
import { programsOf, tiersOf } from '../queries/lists.js';
import { Brand } from '../stubs.js';

@Resolver(() => AffiliateProgram)
export class ProgramResolver {
  @Access(ANYBODY)
  @Query(() => [AffiliateProgram], { description: 'Programs by key; those that are over only for who may change them.' })
  affiliatePrograms(@Ctx() ctx: Context): Promise<AffiliateProgram[]> {
    return programsOf(ctx, mayAccess(ruleOf(PROGRAM_WRITERS), ctx.caller));
  }

  @Prepare(brandHosts)
  @Access(PROGRAM_WRITERS)
  @Mutation(() => AffiliateProgram, { description: 'Makes a program.' })
  createAffiliateProgram(
    @Arg('input', () => CreateAffiliateProgramInput) input: CreateAffiliateProgramInput,
    @Ctx() ctx: Context,
  ): Promise<AffiliateProgram> {
    return createProgram(ctx, input);
  }

  @Access(PROGRAM_WRITERS)
  @Mutation(() => AffiliateProgram, { description: 'Changes a program; what was earned before stays as it is.' })
  updateAffiliateProgram(
    @Arg('input', () => UpdateAffiliateProgramInput) input: UpdateAffiliateProgramInput,
    @Ctx() ctx: Context,
  ): Promise<AffiliateProgram> {
    return updateProgram(ctx, input);
  }

  @Access(ANYBODY)
  @FieldResolver(() => Brand)
  brand(@Root() { brandId }: AffiliateProgram): Brand {
    return { id: brandId };
  }

  @Access(ANYBODY)
  @FieldResolver(() => [CommissionTier], { description: 'Lowest first.' })
  tiers(@Root() { id }: AffiliateProgram, @Ctx() ctx: Context): Promise<CommissionTier[]> {
    return tiersOf(ctx, id);
  }
}

@Resolver(() => CommissionTier)
export class TierResolver {
  @FieldResolver(() => Money, { nullable: true, description: 'Of a FLAT tier: what the first purchase of a customer earns.' })
  async flat(@Root() { programId, flatUnits }: CommissionTier, @Ctx() ctx: Context): Promise<Money | null> {
    return flatUnits === null ? null : { amount: flatUnits, currency: (await loadRow(ctx, AffiliateProgram, 'id', programId))!.currency };
  }

  @FieldResolver(() => Money, { description: 'What has to be confirmed in 90 days.' })
  async threshold(@Root() { programId, thresholdUnits }: CommissionTier, @Ctx() ctx: Context): Promise<Money> {
    return { amount: thresholdUnits, currency: (await loadRow(ctx, AffiliateProgram, 'id', programId))!.currency };
  }
}
