import type { Context } from '../../../runtime/request/context.js';
import { preparation } from '../../../runtime/request/operation.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { GuardrailKind } from '../entities/enums.js';
import type { RankCandidateInput, RankInput } from '../inputs/rank.js';
import { guardFactsOf, UNKNOWN, type GuardAnswered } from '../ports/guard-source.js';
import { needsCodes, needsFacts, type GuardedCandidate, type GuardFacts } from '../rules/guardrails.js';
import type { Values } from '../rules/values.js';
import { isErased } from '../queries/entity-lock.js';
import { recentPolicy, type RankPolicy } from '../queries/rank-facts.js';

/** A candidate as the rules see it. */
export const guarded = (one: RankCandidateInput): GuardedCandidate => ({
  id: one.id,
  features: (one.features ?? {}) as Values,
  tags: one.tags ?? [],
  codes: one.codes ?? [],
  contraindications: one.contraindications ?? [],
  ageMin: one.ageMin ?? null,
  ageMax: one.ageMax ?? null,
  regions: one.regions ?? [],
});

/** What of an entity's safety was asked for before the transaction. */
export interface GuardAsked extends GuardAnswered {
  codes: boolean;
}

/** Guard data, asked for outside the transaction; null: the policy's rules need none. */
export const guardAsked = preparation(async (ctx: Context, { input }: { input: RankInput }): Promise<GuardAsked | null> => {
  const policy = await recentPolicy(ctx, input);
  if (!policy || !needsFacts(policy.guardrails)) return null;
  const codes = needsCodes(policy.guardrails, input.candidates.map(guarded));
  return { ...(await guardFactsOf(ctx, input.entity.id.toLowerCase(), codes)), codes };
});

/** For policies whose rules ask for nothing that only others know. */
const NOTHING_ASKED: GuardAnswered = {
  facts: { available: true, redFlagOpen: false, criticalLabOpen: false, contraindications: [], activeInterventions: [] },
  closedFlags: [],
};

/** What was asked for, as far as it is all that the rules need now: they may have changed since, and then it is as good as unread. */
export function guardFor(policy: RankPolicy, candidates: readonly GuardedCandidate[], asked: GuardAsked | null): GuardAnswered {
  if (!needsFacts(policy.guardrails)) return NOTHING_ASKED;
  const enough = asked !== null && (asked.codes || !needsCodes(policy.guardrails, candidates));
  return enough ? asked : UNKNOWN;
}

/** Candidates that were served as often as the cap allows. */
export async function servedOften(ctx: Context, policy: RankPolicy, entityId: string): Promise<Set<string>> {
  const cap = policy.guardrails.find(({ rule }) => rule === GuardrailKind.FREQUENCY_CAP)?.params;
  if (!cap) return new Set();
  const since = after(ctx.now(), -Number(cap.days ?? 1) * DAY_MS).toISOString();
  const rows = await ctx.sql<{ id: string }>(
    `select served_candidate_id as id from ${ctx.schema}.decision where policy_id = $1 and entity_id = $2 and decided_at > $3 and status not in ('deferred', 'discarded')
     group by 1 having count(*) >= $4`,
    [policy.id, entityId, since, Number(cap.max ?? 1)],
  );
  return new Set(rows.map(({ id }) => id));
}

/** What became known since clinical was asked: red flags whose events came meanwhile. */
export const factsSince = (facts: GuardFacts, { closedFlags }: GuardAnswered, mirrored: readonly string[]): GuardFacts => ({
  ...facts,
  redFlagOpen: facts.redFlagOpen || mirrored.some(flag => !closedFlags.includes(flag)),
});

/** Flags that clinical has closed leave the mirror, so that they hold nothing back. */
export async function forgetFlags(ctx: Context, entityId: string, closed: readonly string[]): Promise<void> {
  if (closed.length === 0) return;
  await ctx.sql(`delete from ${ctx.schema}.guard_state where entity_id = $1 and kind = 'red_flag' and reference = any($2)`, [
    entityId,
    closed,
  ]);
}

const MIRROR = (schema: string): string => `
insert into ${schema}.guard_state (entity_id, kind, reference, severity, detected_at) values ($1, 'red_flag', $2, $3, $4) on conflict do nothing`;

/** Mirrors a red flag, so that it holds candidates back from now on. */
export async function mirrorFlag(
  ctx: Context,
  entityId: string,
  flag: { id: string; severity: string; detectedAt: string },
): Promise<void> {
  if (await isErased(ctx, entityId)) return;
  await ctx.sql(MIRROR(ctx.schema), [entityId, flag.id, flag.severity, flag.detectedAt]);
}
