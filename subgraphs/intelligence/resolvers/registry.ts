import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, requireValid, invalid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { RankingPolicy } from '../entities/policy.js';
import { RegistryVersion, RegistryVersionConnection } from '../entities/registry.js';
import { GOVERNORS, Ranker, READERS } from '../entities/enums.js';
import { PromoteRegistryVersionInput, RollbackRegistryInput } from '../inputs/governance.js';
import { RegisterRegistryVersionInput, RegistryVersionsArgs } from '../inputs/policy.js';
import { bundleViolations } from '../rules/bundle-schema.js';
import { rankersOf, type Bundle } from '../rules/bundle.js';
import { addVersion, bundleOf, lockPolicy, makeChampion, versionOf } from '../commands/registry-store.js';

const given = (values: object): object => Object.fromEntries(Object.entries(values).filter(([, value]) => value != null));

@Resolver(() => RegistryVersion)
export class RegistryResolver {
  @Access(READERS)
  @Query(() => RegistryVersionConnection, { description: 'Versions, newest first.' })
  registryVersions(
    @Args(() => RegistryVersionsArgs) { first, after, ...asked }: RegistryVersionsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<RegistryVersion>> {
    return page<RegistryVersion>(ctx.em, RegistryVersion, given(asked) as never, { first, after }, { time: 'createdAt' });
  }

  @Access(READERS)
  @Query(() => RegistryVersion, { nullable: true })
  async registryVersion(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<RegistryVersion | null> {
    return isUuid(id) ? ctx.em.findOne(RegistryVersion, { id }) : null;
  }

  @Access(GOVERNORS)
  @Mutation(() => RegistryVersion, { description: 'Registers parameters as a candidate with the next version number.' })
  async registerRegistryVersion(
    @Arg('input', () => RegisterRegistryVersionInput) input: RegisterRegistryVersionInput,
    @Ctx() ctx: Context,
  ): Promise<RegistryVersion> {
    const errors = bundleViolations(input.parameters, '/input/parameters');
    requireValid(errors);
    const policy = await lockPolicy(ctx, input.policyId);
    const { parentVersion = null, notes = null } = input;
    const version = await addVersion(ctx, policy, { parameters: input.parameters as Bundle, parentVersion, notes });
    ctx.audit('registry_version.registered', version.id, { version: version.number, artifact_sha256: version.artifactSha256 });
    return version;
  }

  @Access(GOVERNORS)
  @Mutation(() => RegistryVersion, { description: 'Makes a version the champion; the prior one is retired. No decision changes.' })
  async promoteRegistryVersion(
    @Arg('input', () => PromoteRegistryVersionInput) input: PromoteRegistryVersionInput,
    @Ctx() ctx: Context,
  ): Promise<RegistryVersion> {
    const named = (isUuid(input.id) ? await ctx.em.findOne(RegistryVersion, { id: input.id }) : null) ?? fail('not_found', 'Not found');
    const policy = await lockPolicy(ctx, named.policyId);
    const version = await versionOf(ctx, policy.id, named.number); // as it is now that the lock is held
    return makeChampion(ctx, policy, version, { ...input, action: 'promote' });
  }

  @Access(GOVERNORS)
  @Mutation(() => RegistryVersion, { description: 'Makes a prior champion the champion again. Decision history is unchanged.' })
  async rollbackRegistry(
    @Arg('input', () => RollbackRegistryInput) input: RollbackRegistryInput,
    @Ctx() ctx: Context,
  ): Promise<RegistryVersion> {
    const { policyKind, policyKey, brandId, toVersion } = input;
    if (brandId === undefined) invalid('/input/brandId', 'is required; it may be null');
    const named =
      (await ctx.em.findOne(RankingPolicy, { policyKind, policyKey, brandId: brandId?.toLowerCase() ?? null })) ??
      fail('not_found', 'There is no such policy');
    const policy = await lockPolicy(ctx, named.id);
    return makeChampion(ctx, policy, await versionOf(ctx, policy.id, toVersion), { ...input, action: 'roll back to' });
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
