import type { Loop, TestPolicy } from './loop.js';

const COPIES = `
with copy as (
  select gen_random_uuid() as id, reward, row_number() over () as place from unnest($2::float8[]) as reward
), decision as (
  insert into intelligence.decision
  select (jsonb_populate_record(d, jsonb_build_object('id', c.id, 'decision_key', c.id::text, 'entity_id', gen_random_uuid(), 'closed_at', d.matures_at,
    'status', case when c.reward is null then 'expired_unjoined' else 'joined' end))).*
  from intelligence.decision d, copy c where d.id = $1
)
insert into intelligence.decision_outcome (id, decision_id, metric, label, reward, source_type, source_event_id, occurred_at, joined_at)
select gen_random_uuid(), c.id, 'retest', 'improved', c.reward, 'test', c.id::text, d.decided_at, d.decided_at from copy c, intelligence.decision d where d.id = $1 and c.reward is not null`;

/** A decision made through the door, and as many copies of it about others, closed with a reward or, where it is null, without; their deadline has passed. */
export async function closedDecisions(loop: Loop, policy: TestPolicy, rewards: readonly (number | null)[]): Promise<void> {
  const { id } = await loop.rank(policy, ['a', 'b']);
  await loop.p.sql(COPIES, [id, rewards]);
  await loop.p.sql('delete from intelligence.decision where id = $1', [id]);
  const [row] = await loop.p.sql<{ at: Date }>('select max(matures_at) as at from intelligence.decision where policy_id = $1', [policy.id]);
  await loop.clock(new Date(row!.at.getTime() + 1).toISOString());
}
