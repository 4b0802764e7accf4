import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import type { FlagSnapshot as Evaluable } from '../../../runtime/flags/evaluation.js';
import type { FlagDefinition, FlagSnapshot } from '../entities/evaluation.js';
import type { FlagSnapshotArgs } from '../inputs/lists.js';

/** Every applied change adds one to its flag's revision, and no flag is ever deleted: the sum grows by one per change. */
const REVISION = 'select coalesce(sum(revision), 0)::int from platform.flag';

/** `$1`: slug of the reading service, null for all flags. One statement, so that nobody sees half of a change. */
const SNAPSHOT = `
  select (${REVISION}) as revision, coalesce(json_agg(json_build_object(
    'key', f.key, 'variants', f.variants, 'offVariant', f.off_variant, 'defaultRule', f.default_rule, 'rules', coalesce(r.rules, '[]'),
    'prerequisites', f.prerequisites, 'enabled', f.enabled, 'killed', f.killed, 'archived', f.archived_at is not null,
    'failClosed', f.fail_closed, 'salt', f.salt, 'revision', f.revision) order by f.key), '[]') as flags
  from platform.flag f left join lateral (
    select json_agg(json_strip_nulls(json_build_object('conditions', conditions, 'variant', variant, 'rollout', rollout)) order by position) as rules
    from platform.flag_rule where flag_key = f.key
  ) r on true
  where $1::text is null or f.owner = $1 or $1 = any (f.readers)`;

async function flagRevision(ctx: Context): Promise<number> {
  const [row] = await ctx.sql<{ revision: number }>(`select (${REVISION}) as revision`);
  return row!.revision;
}

/** A hint may be lost; a waiting reader looks this often. */
const LOOK_MS = 1_000;
/** A reader in another process is answered before its call is given up. */
const MAX_WAIT_MS = 20_000;

/** Resolves with the next hint that something changed, or after a pause. */
function hinted({ transport }: ServiceHost, pauseMs: number): Promise<void> {
  return new Promise(resolve => {
    const done = (): void => {
      hint.stop();
      clearTimeout(timer);
      resolve();
    };
    const hint = transport.onHint('cache', '*', done);
    const timer = setTimeout(done, pauseMs);
  });
}

/** The revision, as soon as it is another than the known one, and at the latest after so many seconds. */
async function revisionOtherThan(ctx: Context, known: number, waitSeconds: number): Promise<number> {
  const deadline = performance.now() + Math.min(waitSeconds * 1000, MAX_WAIT_MS);
  for (;;) {
    const revision = await flagRevision(ctx);
    const left = deadline - performance.now();
    if (revision !== known || left <= 0) return revision;
    await hinted(ctx.host, Math.min(LOOK_MS, left));
  }
}

/** Whose flags a service may read: its own and those that name it; all of them, null, with the scope of the platform. */
export const readerOf = ({ caller }: Context): string | null => (caller.scopes.has('admin:platform') ? null : (caller.serviceSlug ?? ''));

/** The flags of which a service is owner or reader; all of them for null. */
export async function readSnapshot(ctx: Context, reader: string | null): Promise<FlagSnapshot> {
  const [row] = await ctx.sql<{ revision: number; flags: FlagDefinition[] }>(SNAPSHOT, [reader]);
  return row!;
}

/** A snapshot for the calling service; null while the revision is `ifRevisionNot`. With `wait` it comes with the next change. */
export async function snapshotFor(ctx: Context, { ifRevisionNot, knownRevision, wait }: FlagSnapshotArgs): Promise<FlagSnapshot | null> {
  const known = ifRevisionNot ?? knownRevision ?? null;
  const revision = known === null ? null : await revisionOtherThan(ctx, known, wait);
  if (ifRevisionNot != null && ifRevisionNot === revision) return null;
  return readSnapshot(ctx, readerOf(ctx));
}

/** The flags as last read, by the process's platform service; good for as long as the revision stands. */
const known = new WeakMap<ServiceHost, Evaluable>();

/** All flags, ready to evaluate: one short statement while nothing changes. */
export async function currentFlags(ctx: Context): Promise<Evaluable> {
  const kept = known.get(ctx.host);
  if (kept && kept.revision === (await flagRevision(ctx))) return kept;
  const { revision, flags } = await readSnapshot(ctx, null);
  const fresh = { revision, flags: new Map(flags.map(flag => [flag.key, flag])) };
  known.set(ctx.host, fresh);
  return fresh;
}
