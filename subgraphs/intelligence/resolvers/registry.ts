import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { promoteVersion, registerVersion, rollBack } from '../commands/registry.js';
import { GOVERNORS, READERS } from '../entities/access.js';
import { Ranker } from '../entities/enums.js';
import { RegistryVersion, RegistryVersionConnection } from '../entities/registry.js';
import { PromoteRegistryVersionInput, RollbackRegistryInput } from '../inputs/governance.js';
import { RegisterRegistryVersionInput, RegistryVersionsArgs } from '../inputs/policy.js';
import { bundleOf } from '../queries/registry.js';
import { rankersOf, type Bundle } from '../rules/bundle.js';
import { given } from '../rules/values.js';

@Resolver(() => RegistryVersion)
export class RegistryResolver {
  @Access(READERS)
  @Query(() => RegistryVersionConnection, { description: 'Versions, newest first.' })
  registryVersions(
    @Args(() => RegistryVersionsArgs) { first, after, ...asked }: RegistryVersionsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<RegistryVersion>> {
    return page(ctx.em, RegistryVersion, given(asked), { first, after }, { time: 'createdAt' });
  }

  @Access(READERS)
  @Query(() => RegistryVersion, { nullable: true })
  registryVersion(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<RegistryVersion | null> {
    return findRow(ctx, RegistryVersion, { id });
  }

  @Access(GOVERNORS)
  @Mutation(() => RegistryVersion, { description: 'Registers parameters as a candidate with the next version number.' })
  registerRegistryVersion(
    @Arg('input', () => RegisterRegistryVersionInput) input: RegisterRegistryVersionInput,
    @Ctx() ctx: Context,
  ): Promise<RegistryVersion> {
    return registerVersion(ctx, input);
  }

  @Access(GOVERNORS)
  @Mutation(() => RegistryVersion, { description: 'Makes a version the champion; the prior one is retired. No decision changes.' })
  promoteRegistryVersion(
    @Arg('input', () => PromoteRegistryVersionInput) input: PromoteRegistryVersionInput,
    @Ctx() ctx: Context,
  ): Promise<RegistryVersion> {
    return promoteVersion(ctx, input);
  }

  @Access(GOVERNORS)
  @Mutation(() => RegistryVersion, { description: 'Makes a prior champion the champion again. Decision history is unchanged.' })
  rollbackRegistry(@Arg('input', () => RollbackRegistryInput) input: RollbackRegistryInput, @Ctx() ctx: Context): Promise<RegistryVersion> {
    return rollBack(ctx, input);
  }

  @Access(READERS)
  @FieldResolver(() => JSONObject, { description: 'Empty when the artefact was erased.' })
  async parameters(@Root() version: RegistryVersion, @Ctx() ctx: Context): Promise<Bundle> {
    return (await bundleOf(ctx, version)) ?? {};
  }

  @Access(READERS)
  @FieldResolver(() => [Ranker], { description: 'Which parts exist; PASSTHROUGH always.' })
  async rankers(@Root() version: RegistryVersion, @Ctx() ctx: Context): Promise<Ranker[]> {
    return rankersOf((await bundleOf(ctx, version)) ?? {});
  }
}
