import { prepared } from '../../../events/prepared.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import type { RankingPolicy } from '../entities/policy.js';
import type { RankInput } from '../inputs/rank.js';
import { ENTITY_LOCK, entityHash, lockName, tombstonesSince } from './entity-lock.js';
import { FRESH_VECTORS, openFeatures, type FreshFeatures, type StoredVector } from './features.js';

/** What a ranking asks of its policy. */
export type RankPolicy = Pick<
  RankingPolicy,
  | 'id'
  | 'policyKind'
  | 'policyKey'
  | 'brandId'
  | 'status'
  | 'outcomeMetric'
  | 'maturationDays'
  | 'epsilon'
  | 'controlShare'
  | 'segmentKeys'
  | 'contextSchema'
  | 'candidateSchema'
  | 'guardrails'
  | 'safeTag'
>;

/** Everything stored that an answer depends on, read at one instant. */
export interface RankFacts {
  policy: RankPolicy;
  champion: { id: string; number: number; artifactErasedAt: unknown };
  /** The decision that was made under this key already. */
  madeBefore: string | null;
  erased: boolean;
  features: FreshFeatures;
  /** Red flags that hold candidates back, as events have reported them. */
  flags: readonly string[];
}

interface Row {
  policy: string;
  championId: string;
  number: number;
  artifactErasedAt: string | null;
  madeBefore: string | null;
  erased: boolean;
  vectors: StoredVector[];
  flags: string[];
}

/** The policy of a brand, else that of every brand: `$1` kind, `$2` key, `$3` brand or null. */
const POLICY = (schema: string): string => `
select id, jsonb_build_object('id', id, 'policyKind', policy_kind, 'policyKey', policy_key, 'brandId', brand_id, 'status', status, 'outcomeMetric', outcome_metric,
  'maturationDays', maturation_days, 'epsilon', epsilon, 'controlShare', control_share, 'segmentKeys', to_jsonb(segment_keys), 'contextSchema', context_schema,
  'candidateSchema', candidate_schema, 'guardrails', guardrails, 'safeTag', safe_tag)::text as policy
from ${schema}.ranking_policy where policy_kind = $1 and policy_key = $2 and (brand_id is null or brand_id = $3::uuid) order by brand_id nulls last limit 1`;

/** Takes the entity's lock, shared, and reads; what an erasure commits while the lock is waited for is found when the decision is written. */
const FACTS = (schema: string): string => `
with p as materialized (${POLICY(schema)})
select ${ENTITY_LOCK.shared('$4')}::text as locked, p.policy, v.id as "championId", v.version as number, v.artifact_erased_at as "artifactErasedAt",
  (select id from ${schema}.decision where policy_id = p.id and decision_key = $5) as "madeBefore",
  exists (select from ${schema}.entity_tombstone where entity_hash = $6 and erased_at > $7) as erased,
  coalesce((select json_agg(f) from (${FRESH_VECTORS(schema, { type: '$8', id: '$9', now: '$10' })}) f), '[]') as vectors,
  array(select reference from ${schema}.guard_state where entity_id = $9::uuid and kind = 'red_flag' and severity is distinct from 'info') as flags
from p join ${schema}.registry_version v on v.policy_id = p.id and v.status = 'champion'`;

/** Policies by their stored text: the same text is the same object, so that what is compiled of its schemas is found again. */
const parsed = new Map<string, RankPolicy>();
const KEPT_POLICIES = 500;

function parsePolicy(text: string): RankPolicy {
  const known = parsed.get(text);
  if (known) return known;
  if (parsed.size >= KEPT_POLICIES) parsed.clear();
  const policy = JSON.parse(text) as RankPolicy;
  parsed.set(text, policy);
  return policy;
}

const nameOf = ({ policyKind, policyKey, brandId }: RankInput): [string, string, string | null] => [
  policyKind,
  policyKey,
  brandId?.toLowerCase() ?? null,
];

/** Everything of a ranking in one statement, the entity's lock held from here; null: there is no such policy. */
export async function rankFacts(ctx: Context, input: RankInput, entityId: string): Promise<RankFacts | null> {
  const now = ctx.now().toISOString();
  const tombstone = [await entityHash(ctx, entityId), tombstonesSince(ctx)];
  const given = [...nameOf(input), lockName(entityId), input.decisionKey, ...tombstone, input.entity.type, entityId, now];
  const [row] = await ctx.sql<Row>(prepared(FACTS(ctx.schema)), given);
  if (!row) return null;
  const policy = parsePolicy(row.policy);
  noticed(ctx.host).set(nameOf(input).join(), { policy, at: performance.now() });
  const champion = { id: row.championId, number: row.number, artifactErasedAt: row.artifactErasedAt };
  const features = openFeatures(ctx, input.entity.type, entityId, row.vectors);
  return { policy, champion, madeBefore: row.madeBefore, erased: row.erased, features, flags: row.flags };
}

/** What rankings have seen of a policy counts so long for the question whom to ask, ms. Source: intelligence 3, Registry. */
const NOTICED_MS = 2000;
const memories = new WeakMap<ServiceHost, Map<string, { policy: RankPolicy; at: number }>>();

function noticed(host: ServiceHost): Map<string, { policy: RankPolicy; at: number }> {
  const memory = memories.get(host) ?? new Map<string, { policy: RankPolicy; at: number }>();
  memories.set(host, memory);
  if (memory.size > KEPT_POLICIES) memory.clear();
  return memory;
}

/** Policies were changed here: the next ranking reads them anew before it asks anybody. */
export const forgetPolicies = (host: ServiceHost): void => void memories.delete(host);

/** The policy as it is or was 2 s ago: decides which neighbours are to be asked before the transaction, nothing else. */
export async function recentPolicy(ctx: Context, input: RankInput): Promise<RankPolicy | null> {
  const recent = noticed(ctx.host).get(nameOf(input).join());
  if (recent && performance.now() - recent.at < NOTICED_MS) return recent.policy;
  const [row] = await ctx.sql<{ policy: string }>(prepared(POLICY(ctx.schema)), nameOf(input));
  return row ? parsePolicy(row.policy) : null;
}
