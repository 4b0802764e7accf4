import { randomUUID } from 'node:crypto';
import type { Loop, TestPolicy } from './loop.js';

const COPIES = `
with copy as (
  select * from unnest($2::uuid[], $3::float8[], $4::text[], $5::jsonb[]) as c(id, reward, record, more)
), decision as (
  insert into intelligence.decision
  select (jsonb_populate_record(d, jsonb_build_object('id', c.id, 'decision_key', c.id::text, 'entity_id', gen_random_uuid(), 'closed_at', d.matures_at, 'record', c.record,
    'status', case when c.reward is null then 'expired_unjoined' else 'joined' end) || c.more)).*
  from intelligence.decision d, copy c where d.id = $1
)
insert into intelligence.decision_outcome (id, decision_id, metric, label, reward, source_type, source_event_id, occurred_at, joined_at)
select gen_random_uuid(), c.id, 'retest', 'improved', c.reward, 'test', c.id::text, d.decided_at, d.decided_at from copy c, intelligence.decision d where d.id = $1 and c.reward is not null`;

/** A copy of a decision: its reward, null where no outcome joined, and what else is different. */
export interface Copy {
  reward: number | null;
  columns?: Record<string, unknown>;
}

const sealedAs = (id: string): string => `decision.record:${id}`;

/** As many copies of a decision about others, closed with their reward or without; each has its own sealed record, which `change` may alter. */
export async function copiesOf(
  loop: Loop,
  decisionId: string,
  copies: readonly Copy[],
  change: (record: any) => object = record => record,
): Promise<void> {
  const { sealer } = loop.p.host('intelligence');
  const [row] = await loop.p.sql<{ record: Buffer }>('select record from intelligence.decision where id = $1', [decisionId]);
  const record = JSON.stringify(change(JSON.parse(sealer.open(row!.record, sealedAs(decisionId)))));
  const ids = copies.map(() => randomUUID());
  const records = ids.map(id => `\\x${sealer.seal(record, sealedAs(id)).toString('hex')}`);
  const more = copies.map(({ columns = {} }) => JSON.stringify(columns));
  await loop.p.sql(COPIES, [decisionId, ids, copies.map(({ reward }) => reward), records, more]);
}

export const times = <T>(count: number, of: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => of(index));

/** So many copies of which the first share has reward 1, the others 0. */
export const rewarded = (count: number, share: number, columns: Record<string, unknown> = {}): Copy[] =>
  times(count, index => ({ reward: Number(index < Math.round(count * share)), columns }));

/** Past the last deadline of a policy's decisions. */
export async function afterDeadlines(loop: Loop, policy: TestPolicy): Promise<void> {
  const [row] = await loop.p.sql<{ at: Date }>('select max(matures_at) as at from intelligence.decision where policy_id = $1', [policy.id]);
  await loop.clock(new Date(row!.at.getTime() + 1).toISOString());
}

const remove = (loop: Loop, id: string) => loop.p.sql('delete from intelligence.decision where id = $1', [id]);

/** A decision made through the API, and as many copies of it about others; their deadline has passed. */
export async function closedCopies(loop: Loop, policy: TestPolicy, copies: readonly Copy[]): Promise<void> {
  const { id } = await loop.rank(policy, ['a', 'b']);
  await copiesOf(loop, id, copies);
  await remove(loop, id);
  await afterDeadlines(loop, policy);
}

/** The same by rewards alone, null where no outcome joined. */
export const closedDecisions = (loop: Loop, policy: TestPolicy, rewards: readonly (number | null)[]): Promise<void> =>
  closedCopies(
    loop,
    policy,
    rewards.map(reward => ({ reward })),
  );

/** Ranks until a decision comes that is as wanted; the others are left out of the ledger. */
export async function rankedUntil(loop: Loop, policy: TestPolicy, wanted: (decision: any) => boolean): Promise<any> {
  for (;;) {
    const decision = await loop.rank(policy, ['a', 'b']);
    if (wanted(decision)) return decision;
    await remove(loop, decision.id);
  }
}

/** Decisions of a policy that serves `a` mostly and `b` sometimes: for each, copies with a share of rewards. */
export async function explored(loop: Loop, policy: TestPolicy, { a, b }: Record<'a' | 'b', readonly Copy[]>): Promise<void> {
  for (const [served, copies] of Object.entries({ a, b })) {
    const { id } = await rankedUntil(loop, policy, one => one.served_candidate_id === served);
    await copiesOf(loop, id, copies);
    await remove(loop, id);
  }
  await afterDeadlines(loop, policy);
}

/** As many copies of one decision as are given for each candidate that could have been served; answers the decision. Needs an explored stage. */
export async function served(loop: Loop, policy: TestPolicy, copies: Readonly<Record<string, readonly Copy[]>>): Promise<any> {
  const ids = Object.keys(copies);
  const decision = await loop.rank(policy, ids, { slots: ids.length });
  for (const [id, list] of Object.entries(copies)) {
    const { propensity } = decision.ranked.find((one: any) => one.candidate_id === id);
    const columns = { served_candidate_id: id, propensity };
    await copiesOf(
      loop,
      decision.id,
      list.map(one => ({ ...one, columns: { ...columns, ...one.columns } })),
    );
  }
  await remove(loop, decision.id);
  return decision;
}
