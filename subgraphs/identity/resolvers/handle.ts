import { Arg, Ctx, Field, ObjectType, Query, Resolver } from 'type-graphql';
import { SLUGS } from '../../../events/slugs.js';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { stored } from '../../../runtime/federation/federation.js';
import { rateLimitPerHost } from '../../../runtime/access/rate-limit.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { UserProfile } from '../entities/user.js';
import { HANDLE_COOLDOWN_MS, HANDLE_HOLD_MS, handleFault, handleVariants } from '../rules/handles.js';
import { registerEnums } from '../../../runtime/schema/enums.js';

export enum HandleAvailabilityReason {
  TAKEN = 'taken',
  RESERVED = 'reserved',
  HELD = 'held',
  INVALID = 'invalid',
  BLOCKED = 'blocked',
}
registerEnums({ HandleAvailabilityReason }, { HandleAvailabilityReason: 'Why a handle cannot be had.' });

@Access({ service: '*', user: '*' })
@ObjectType({ description: 'Whether a handle can be had.' })
export class HandleAvailability {
  @Field(() => String)
  handle: string;

  @Field(() => Boolean)
  available: boolean;

  @Field(() => HandleAvailabilityReason, { nullable: true })
  reason: HandleAvailabilityReason | null;

  @Field(() => [String])
  suggestions: string[];
}

const BRANDS = stored('query HandleBrands { brands(first: 100) { nodes { slug } } }');

/** Brand names that no handle may look like. Asked before the transaction. @throws Problem unavailable when platform cannot say. */
export async function brandNames(ctx: Context): Promise<string[]> {
  const { brands } = await ctx.federation.run<{ brands: { nodes: { slug: string }[] } }>(BRANDS);
  return brands.nodes.map(brand => brand.slug);
}

const { TAKEN, HELD } = HandleAvailabilityReason;

/** Those of the handles that somebody else has, or that are held for somebody else. */
async function occupied(ctx: Context, handles: readonly string[]): Promise<Map<string, HandleAvailabilityReason>> {
  const rows = await ctx.sql<{ handle: string; reason: HandleAvailabilityReason }>(
    `select handle, 'held' as reason from identity.handle_hold where handle = any($1) and held_until > $2 and user_id is distinct from $3::uuid
     union all select handle, 'taken' from identity.user_profile where handle = any($1) and user_id is distinct from $3::uuid`,
    [handles, ctx.now().toISOString(), ctx.caller.userId],
  );
  return new Map(rows.map(row => [row.handle, row.reason]));
}

async function isOwn(ctx: Context, handle: string): Promise<boolean> {
  return ctx.caller.userId !== null && (await ctx.em.count(UserProfile, { userId: ctx.caller.userId, handle })) > 0;
}

/** Handles of others who work here, which no handle may look like. */
async function staffHandles(ctx: Context): Promise<string[]> {
  const rows = await ctx.sql<{ handle: string }>(
    `select p.handle from identity.staff_member s join identity.user_profile p on p.user_id = s.user_id
     where s.status in ('active', 'suspended') and p.handle is not null and s.user_id is distinct from $1::uuid`,
    [ctx.caller.userId],
  );
  return rows.map(row => row.handle);
}

/** Why the caller cannot have a handle (lower case), null if it can. Also names the free ones of its variants. */
async function judge(
  ctx: Context,
  handle: string,
  brands: readonly string[],
): Promise<{ reason: HandleAvailabilityReason | null; free: string[] }> {
  const staff = (await staffHandles(ctx)).filter(one => one !== handle); // the very same one is taken
  const fault = handleFault(handle, [...SLUGS, ...brands, ...staff]);
  if (fault) return { reason: fault as HandleAvailabilityReason, free: [] };
  const variants = handleVariants(handle);
  const gone = await occupied(ctx, [handle, ...variants]);
  return { reason: gone.get(handle) ?? null, free: variants.filter(one => !gone.has(one)).slice(0, 3) };
}

/** Writes the caller's handle after the rules. @throws Problem invalid_request, conflict (`handle_taken`, `handle_cooldown`). */
export async function changeHandle(ctx: Context, profile: UserProfile, wanted: string | null, brands: readonly string[]): Promise<void> {
  const handle = wanted?.toLowerCase() ?? null;
  if (handle === profile.handle) return;
  const reason = handle === null ? null : (await judge(ctx, handle, brands)).reason;
  if (reason === TAKEN || reason === HELD) fail('conflict', 'This handle belongs to somebody else', { reason: 'handle_taken' });
  if (reason) invalid('/input/handle', `is ${reason}`);
  const now = ctx.now();
  if (profile.handleChangedAt && now.getTime() < profile.handleChangedAt.getTime() + HANDLE_COOLDOWN_MS)
    fail('conflict', 'The handle was changed less than 30 days ago', { reason: 'handle_cooldown' });
  await releaseHandle(ctx, profile, handle, now);
  if (profile.handle !== null || profile.handleChangedAt) profile.handleChangedAt = now; // the first handle is no change
  profile.handle = handle;
}

/** Holds the old handle for its owner, and ends a hold of the new one that was the owner's own or has run out. */
async function releaseHandle(ctx: Context, profile: UserProfile, handle: string | null, now: Date): Promise<void> {
  await ctx.sql('delete from identity.handle_hold where handle = $1', [handle]);
  if (profile.handle === null) return;
  await ctx.sql(
    `insert into identity.handle_hold (handle, user_id, held_until) values ($1, $2, $3)
     on conflict (handle) do update set user_id = excluded.user_id, held_until = excluded.held_until`,
    [profile.handle, profile.userId, new Date(now.getTime() + HANDLE_HOLD_MS).toISOString()],
  );
}

/** 30 questions a minute for each caller. Source: identity 4. */
const questions = rateLimitPerHost(30, 60_000);

@Resolver()
export class HandleResolver {
  @Access({ service: '*', user: '*' })
  @Query(() => HandleAvailability, { description: 'Whether the caller could have this handle, in any case of letters.' })
  async handleAvailability(
    @Rule({ maxLength: 64 }) @Arg('handle', () => String) text: string,
    @Ctx() ctx: Context,
  ): Promise<HandleAvailability> {
    questions(ctx.host).take(`${ctx.caller.clientId} ${ctx.caller.userId ?? ''}`);
    const handle = text.toLowerCase();
    if (await isOwn(ctx, handle)) return { handle, available: true, reason: null, suggestions: [] };
    const { reason, free } = await judge(ctx, handle, await brandNames(ctx));
    return { handle, available: reason === null, reason, suggestions: reason === TAKEN || reason === HELD ? free : [] };
  }
}
