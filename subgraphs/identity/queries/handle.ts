import { SLUGS } from '../../../events/slugs.js';
import { rateLimitPerHost } from '../../../runtime/access/rate-limit.js';
import { stored } from '../../../runtime/federation/federation.js';
import type { Context } from '../../../runtime/request/context.js';
import { MINUTE_MS } from '../../../runtime/time/durations.js';
import { type HandleAvailability, HandleAvailabilityReason, UserProfile } from '../entities/user.js';
import { handleFault, handleVariants } from '../rules/handles.js';

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

interface Judgement {
  /** Why the caller cannot have the handle; null: it can. */
  reason: HandleAvailabilityReason | null;
  /** The free ones of its variants. */
  free: string[];
}

/** Judges a handle in lower case for the caller. */
export async function judgeHandle(ctx: Context, handle: string, brands: readonly string[]): Promise<Judgement> {
  const staff = (await staffHandles(ctx)).filter(one => one !== handle); // the very same one is taken
  const fault = handleFault(handle, [...SLUGS, ...brands, ...staff]);
  if (fault) return { reason: fault as HandleAvailabilityReason, free: [] };
  const variants = handleVariants(handle);
  const gone = await occupied(ctx, [handle, ...variants]);
  return { reason: gone.get(handle) ?? null, free: variants.filter(one => !gone.has(one)).slice(0, 3) };
}

/** 30 questions a minute for each caller. Source: identity 4. */
const questions = rateLimitPerHost(30, MINUTE_MS);

/** Whether the caller could have a handle, in any case of letters. @throws Problem rate_limited, unavailable. */
export async function availabilityOf(ctx: Context, text: string): Promise<HandleAvailability> {
  ctx.count(questions, `${ctx.caller.clientId} ${ctx.caller.userId ?? ''}`);
  const handle = text.toLowerCase();
  if (await isOwn(ctx, handle)) return { handle, available: true, reason: null, suggestions: [] };
  const { reason, free } = await judgeHandle(ctx, handle, await brandNames(ctx));
  return { handle, available: reason === null, reason, suggestions: reason === TAKEN || reason === HELD ? free : [] };
}
