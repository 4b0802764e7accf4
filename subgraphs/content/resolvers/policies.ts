import { Arg, Args, Ctx, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { requireRow } from '../../../runtime/data/rows.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { acceptPolicy, putPolicy, withdrawAcceptance } from '../commands/policy.js';
import { PolicyAcceptance, PolicyAcceptanceConnection, PolicyVersion } from '../entities/policy.js';
import { typesOf } from '../entities/types.js';
import { AcceptPolicyInput, PolicyAcceptancesArgs, PutContentPolicyInput } from '../inputs/policy.js';
import { ReadArgs } from '../inputs/reading.js';
import { preparedBrands } from '../ports/brands.js';
import { loadItem } from '../queries/delivery.js';
import { draftOf } from '../queries/editors.js';
import { inForceAt, shownVersions, versionsOf, type VersionRow } from '../queries/policies.js';
import type { Item } from '../queries/present.js';
import { policyBySlug, type PolicyItem } from '../queries/single.js';
import { defaultView, viewFor } from '../queries/view.js';

const POLICY = typesOf('POLICIES').item;
const OWN = { user: 'read:account', firstParty: true };

const shownVersion = async (ctx: Context, row: VersionRow, item: Item): Promise<PolicyVersion> =>
  (await shownVersions(ctx, [row], item))[0]!;

@Resolver(() => POLICY)
export class PolicyResolver {
  @Access({ service: '*', user: '*', staff: '*' })
  @Query(() => POLICY, { nullable: true, description: 'A policy; `at` and `version` choose the text that `current` shows.' })
  contentPolicy(
    @Rule({ maxLength: 96 }) @Arg('slug', () => String) slug: string,
    @Rule({ min: 1 }) @Arg('version', () => Int, { nullable: true }) version: number | null,
    @Arg('at', () => DateTime, { nullable: true }) at: Date | null,
    @Args(() => ReadArgs) args: ReadArgs,
    @Ctx() ctx: Context,
  ): Promise<Item | null> {
    return policyBySlug(ctx, slug, { version, at }, args);
  }

  @Access({ service: 'admin:content', staff: 'admin:content:publish' })
  @Prepare(preparedBrands)
  @Mutation(() => POLICY, { description: 'A new version of a policy, where something differs.' })
  async putContentPolicy(@Arg('input', () => PutContentPolicyInput) input: PutContentPolicyInput, @Ctx() ctx: Context): Promise<Item> {
    const { state, warnings } = await putPolicy(ctx, input);
    return draftOf(state, viewFor(ctx, preparedBrands.of(ctx), { locale: state.base_locale }), warnings);
  }

  @FieldResolver(() => PolicyVersion, { nullable: true, description: 'The text that is in force, or that was asked for.' })
  async current(@Root() item: Item, @Ctx() ctx: Context): Promise<PolicyVersion | null> {
    const { text } = item as PolicyItem;
    const versions = await versionsOf(ctx, item.id);
    const row = text?.version == null ? inForceAt(versions, text?.at ?? ctx.now()) : versions.find(one => one.version === text.version);
    const isFuture = row && Date.parse(row.effective_at) > ctx.now().getTime() && !item.view.readers.editor;
    return row && !isFuture ? shownVersion(ctx, row, item) : null;
  }

  @FieldResolver(() => PolicyVersion, { nullable: true, description: 'The next text, announced and not yet in force.' })
  async upcoming(@Root() item: Item, @Ctx() ctx: Context): Promise<PolicyVersion | null> {
    const row = (await versionsOf(ctx, item.id)).find(one => Date.parse(one.effective_at) > ctx.now().getTime());
    return row ? shownVersion(ctx, row, item) : null;
  }

  @FieldResolver(() => [PolicyVersion], { description: 'All texts that are or were in force; for editors those to come, too.' })
  async versions(@Root() item: Item, @Ctx() ctx: Context): Promise<PolicyVersion[]> {
    const rows = await versionsOf(ctx, item.id);
    const shown = rows.filter(one => item.view.readers.editor || Date.parse(one.effective_at) <= ctx.now().getTime());
    return shownVersions(ctx, shown, item);
  }
}

@Resolver(() => PolicyAcceptance)
export class PolicyAcceptanceResolver {
  @Access(OWN)
  @Mutation(() => PolicyAcceptance, { description: 'Accepts the text that is in force; an older or later one is a conflict.' })
  async acceptPolicy(@Arg('input', () => AcceptPolicyInput) input: AcceptPolicyInput, @Ctx() ctx: Context): Promise<PolicyAcceptance> {
    const id = await acceptPolicy(ctx, input.slug, input.version);
    return requireRow(ctx, PolicyAcceptance, { id, userId: ctx.caller.userId! });
  }

  @Access(OWN)
  @Mutation(() => PolicyAcceptance, { description: 'Takes an acceptance back.' })
  async withdrawPolicyAcceptance(
    @Arg('input', () => AcceptPolicyInput) input: AcceptPolicyInput,
    @Ctx() ctx: Context,
  ): Promise<PolicyAcceptance> {
    const id = await withdrawAcceptance(ctx, input.slug, input.version);
    return requireRow(ctx, PolicyAcceptance, { id, userId: ctx.caller.userId! });
  }

  @Access({ service: 'admin:content', staff: 'admin:content:read' })
  @Query(() => PolicyAcceptanceConnection, { description: 'Who accepted a version, newest first.' })
  policyAcceptances(
    @Args(() => PolicyAcceptancesArgs) { slug, version, ...paging }: PolicyAcceptancesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<PolicyAcceptance>> {
    return page(ctx.em, PolicyAcceptance, { slug, version }, paging, { time: 'acceptedAt' });
  }

  @FieldResolver(() => POLICY, { nullable: true })
  async policy(@Root() { itemId }: PolicyAcceptance, @Ctx() ctx: Context): Promise<Item | null> {
    return loadItem(ctx, await defaultView(ctx), itemId);
  }
}
