import type { Context } from '../../../runtime/context.js';
import type { RankingPolicy } from '../entities/policy.js';
import { GuardrailKind } from '../entities/words.js';
import type { RankCandidateInput, RankInput } from '../inputs/rank.js';
import { guardFactsOf, mirroredFlags, type GuardAnswered } from '../ports/guard-source.js';
import { needsCodes, needsFacts, type GuardedCandidate, type GuardFacts } from '../rules/guardrails.js';
import type { Values } from '../rules/values.js';
import { findPolicy } from './policy.js';
import { DAY_MS } from './settings.js';

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

/** Guard data, asked for outside the transaction. */
export async function guardOf(ctx: Context, { input }: { input: RankInput }): Promise<GuardAnswered | null> {
  const policy = await findPolicy(ctx, input.policyKind, input.policyKey, input.brandId?.toLowerCase() ?? null);
  if (!policy || !needsFacts(policy.guardrails)) return null;
  return guardFactsOf(ctx, input.entity.id.toLowerCase(), needsCodes(policy.guardrails, input.candidates.map(guarded)));
}

/** For policies whose rules ask for nothing that only others know. */
export const NOTHING_ASKED: GuardAnswered = {
  facts: { available: true, redFlagOpen: false, criticalLabOpen: false, contraindications: [], activeInterventions: [] },
  closedFlags: [],
};

/** Candidates that were served as often as the cap allows. */
export async function servedOften(ctx: Context, policy: RankingPolicy, entityId: string): Promise<Set<string>> {
  const cap = policy.guardrails.find(({ rule }) => rule === GuardrailKind.FREQUENCY_CAP)?.params;
  if (!cap) return new Set();
  const since = new Date(ctx.now().getTime() - Number(cap.days ?? 1) * DAY_MS).toISOString();
  const rows = await ctx.sql<{ id: string }>(
    `select served_candidate_id as id from ${ctx.schema}.decision where policy_id = $1 and entity_id = $2 and decided_at > $3 and status not in ('deferred', 'discarded')
     group by 1 having count(*) >= $4`,
    [policy.id, entityId, since, Number(cap.max ?? 1)],
  );
  return new Set(rows.map(({ id }) => id));
}

/** What became known while the answer was worked out: red flags whose events came since clinical was asked. */
export async function factsAgain(ctx: Context, facts: GuardFacts, entityId: string): Promise<GuardFacts> {
  return facts.redFlagOpen ? facts : { ...facts, redFlagOpen: (await mirroredFlags(ctx, entityId)).length > 0 };
}

/** Flags that clinical has closed leave the mirror, so that they hold nothing back. */
export async function forgetFlags(ctx: Context, entityId: string, closed: readonly string[]): Promise<void> {
  if (closed.length === 0) return;
  await ctx.sql(`delete from ${ctx.schema}.guard_state where entity_id = $1 and kind = 'red_flag' and reference = any($2)`, [
    entityId,
    closed,
  ]);
}
