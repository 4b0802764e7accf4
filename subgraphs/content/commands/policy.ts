/** Texts that people agree to: immutable versions, each in force from its time on. Source: content 2.4, 4.4, rule 13. */
import { createHash } from 'node:crypto';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid } from '../../../runtime/request/errors.js';
import { definitionOf } from '../entities/collections.js';
import { preparedBrands } from '../ports/brands.js';
import { requireItem, type ItemState } from '../queries/editors.js';
import { inForceAt, versionsOf, type VersionRow } from '../queries/policies.js';
import { applied, emptySnapshot, type Findings, type Snapshot } from '../rules/values.js';
import { tellChanges } from './changes.js';
import { addItem, addRevision } from './item.js';
import { publish } from './publish.js';

export interface PutPolicy {
  slug: string;
  kind: string;
  title: string;
  body: { json?: unknown; html?: string | null };
  effectiveAt?: Date | null;
  summaryOfChanges?: string | null;
  requiresAcceptance: boolean;
  baseVersion?: number | null;
}

const YEAR_MS = 366 * 86_400_000;

/** JSON with its keys in order, so that equal texts have equal hashes. */
const canonical = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(canonical)
    : value !== null && typeof value === 'object'
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, one]) => [key, canonical(one)]),
        )
      : value;

export const bodyHash = (body: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(canonical(body)))
    .digest('hex');

const FIND = "select item_id from content.content_slug where collection = 'POLICIES' and slug = $1 and brand_id is null limit 1";

async function existing(ctx: Context, slug: string): Promise<ItemState | null> {
  const [row] = await ctx.sql<{ item_id: string }>(FIND, [slug]);
  return row ? requireItem(ctx, row.item_id, { lock: true }) : null;
}

function effectiveAt(ctx: Context, input: PutPolicy, newest: VersionRow | undefined): Date {
  const at = input.effectiveAt ?? ctx.now();
  const earliest = Math.max(input.effectiveAt == null ? 0 : ctx.now().getTime() - 60_000, newest ? Date.parse(newest.effective_at) : 0);
  if (at.getTime() < earliest) invalid('/input/effectiveAt', 'must not be before the version before, nor in the past');
  if (at.getTime() > ctx.now().getTime() + YEAR_MS) invalid('/input/effectiveAt', 'must be at most a year ahead');
  return at;
}

function snapshotOf(input: PutPolicy, before: Snapshot, locale: string): { snapshot: Snapshot; body: unknown; warnings: string[] } {
  const found: Findings = { violations: [], warnings: [] };
  const snapshot = applied(definitionOf('POLICIES'), before, { kind: input.kind, title: input.title, body: input.body }, locale, found);
  requireValid(found.violations);
  return { snapshot, body: snapshot.locales[locale]!.body, warnings: found.warnings };
}

const INSERT = `insert into content.policy_version (id, item_id, version, title, body, body_sha256, kind, summary_of_changes, effective_at, requires_acceptance,
  published_by, created_at, in_force) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`;

const isSame = (newest: VersionRow, input: PutPolicy, hash: string): boolean =>
  newest.body_sha256 === hash &&
  newest.title === input.title &&
  newest.requires_acceptance === input.requiresAcceptance &&
  newest.kind === input.kind;

/** Puts a version, in the language of the default brand. */
export async function putPolicy(ctx: Context, input: PutPolicy): Promise<{ state: ItemState; warnings: readonly string[] }> {
  const locale = preparedBrands.of(ctx).find(one => one.isDefault)?.defaultLocale ?? 'en';
  const put = await storePolicy(ctx, input, { locale });
  ctx.status(put.isNew ? 201 : 200);
  await tellChanges(ctx);
  return put;
}

/** A new version where something differs. @throws Problem conflict `version_conflict` for an older base. */
export async function storePolicy(
  ctx: Context,
  input: PutPolicy,
  { locale, id }: { locale: string; id?: string },
): Promise<{ state: ItemState; warnings: readonly string[]; isNew: boolean }> {
  const known = await existing(ctx, input.slug);
  const newest = known ? (await versionsOf(ctx, known.id)).at(-1) : undefined;
  if (input.baseVersion != null && input.baseVersion !== (newest?.version ?? 0))
    fail('conflict', 'It was changed meanwhile', { reason: 'version_conflict' });
  const { snapshot, body, warnings } = snapshotOf(input, known?.data ?? emptySnapshot(), locale);
  const hash = bodyHash(body);
  const isNew = known === null;
  if (known && newest && isSame(newest, input, hash)) return { state: known, warnings, isNew };
  const at = effectiveAt(ctx, input, newest);
  const state = known
    ? await nextRevision(ctx, known, snapshot)
    : (await addItem(ctx, definitionOf('POLICIES'), { id, brandId: null, locale, input })).state;
  const isNow = at.getTime() <= ctx.now().getTime();
  await ctx.sql(INSERT, [
    newId(),
    state.id,
    (newest?.version ?? 0) + 1,
    input.title,
    JSON.stringify(body),
    hash,
    input.kind,
    input.summaryOfChanges ?? null,
    at.toISOString(),
    input.requiresAcceptance,
    ctx.caller.userId,
    ctx.now().toISOString(),
    isNow,
  ]);
  if (isNow) await publish(ctx, state, { allowDanglingReferences: true, pointer: '/input' });
  ctx.audit('policy_version.published', state.id, { version: (newest?.version ?? 0) + 1 });
  ctx.loaders.clear();
  return { state: await requireItem(ctx, state.id), warnings, isNew };
}

async function nextRevision(ctx: Context, state: ItemState, snapshot: Snapshot): Promise<ItemState> {
  await addRevision(ctx, state, snapshot);
  return requireItem(ctx, state.id);
}

const DUE =
  'select item_id, version from content.policy_version where not in_force and effective_at <= $1 order by effective_at, version for update skip locked';

/** Versions whose time has come: version n of a policy is its revision n. */
export async function enforceDue(ctx: Context, at: Date): Promise<void> {
  for (const { item_id: id, version } of await ctx.sql<{ item_id: string; version: number }>(DUE, [at.toISOString()])) {
    const state = await requireItem(ctx, id, { revision: version });
    await publish(ctx, state, { revision: version, allowDanglingReferences: true });
    await ctx.sql('update content.policy_version set in_force = true where item_id = $1 and version = $2', [id, version]);
  }
  await tellChanges(ctx);
}

const ACCEPT = `insert into content.policy_acceptance (id, user_id, item_id, slug, version, accepted_at, client_id, locale, body_sha256)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict (user_id, item_id, version) do update set withdrawn_at = null, accepted_at = excluded.accepted_at returning id`;

export interface Acceptance {
  id: string;
  userId: string;
  clientId: string;
  slug: string;
  version: number;
}

/** Somebody accepts the text that is in force; its hash is kept. @throws Problem conflict `not_current`. @returns id of the acceptance */
export async function acceptAs(ctx: Context, { id, userId, clientId, slug, version }: Acceptance): Promise<string> {
  const state = (await existing(ctx, slug)) ?? fail('not_found', 'Not found');
  const current = inForceAt(await versionsOf(ctx, state.id), ctx.now()) ?? fail('not_found', 'Not found');
  if (current.version !== version) fail('conflict', `Version ${current.version} is in force`, { reason: 'not_current' });
  const values = [id, userId, state.id, slug, version, ctx.now().toISOString(), clientId, state.base_locale, current.body_sha256];
  const [row] = await ctx.sql<{ id: string }>(ACCEPT, values);
  ctx.audit('policy.accepted', state.id, { version });
  return row!.id;
}

/** The caller accepts the text that is in force. */
export const acceptPolicy = (ctx: Context, slug: string, version: number): Promise<string> =>
  acceptAs(ctx, { id: newId(), userId: ctx.caller.userId!, clientId: ctx.caller.clientId, slug, version });

const WITHDRAW = `update content.policy_acceptance set withdrawn_at = $4 where user_id = $1 and slug = $2 and version = $3 and withdrawn_at is null returning id`;

export async function withdrawAcceptance(ctx: Context, slug: string, version: number): Promise<string> {
  const [row] = await ctx.sql<{ id: string }>(WITHDRAW, [ctx.caller.userId, slug, version, ctx.now().toISOString()]);
  if (!row) fail('not_found', 'Not found');
  ctx.audit('policy.acceptance_withdrawn', row.id, { version });
  return row.id;
}
