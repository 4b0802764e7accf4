import { eraseUser, type ErasureOutcome } from '../../../runtime/erasure/erasure.js';
import type { Context } from '../../../runtime/request/context.js';
import type { EntityErasure } from '../entities/erasure.js';
import type { EraseEntityInput } from '../inputs/policy.js';
import { entityHash, lockEntity } from '../queries/entity-lock.js';

const countOf = async (ctx: Context, statement: string, entityId: string): Promise<number> => {
  const [row] = await ctx.sql<{ n: number }>(statement, [entityId]);
  return row!.n;
};

const OUTCOMES = (schema: string): string =>
  `select count(*)::int as n from ${schema}.decision_outcome o join ${schema}.decision d on d.id = o.decision_id where d.entity_id = $1`;

const DELETE = (table: string): string =>
  `with gone as (delete from ${table} where entity_id = $1 returning 1) select count(*)::int as n from gone`;

const BURY = (schema: string): string => `
insert into ${schema}.entity_tombstone (entity_hash, erased_at) values ($1, $2) on conflict (entity_hash) do update set erased_at = excluded.erased_at`;

/**
 * Deletes decisions (their outcomes cascade), feature vectors and guard state of an entity, and leaves a tombstone: a keyed hash of the id
 * keeps out what comes later, and which entity it was cannot be read from it. Aggregates, metrics and proposals stay. Model artefacts
 * follow at the next training. Source: spec 1, Personal health data; intelligence 7.3.20.
 */
export async function forgetEntity(ctx: Context, entityId: string): Promise<ErasureOutcome> {
  await lockEntity(ctx, entityId, 'alone');
  const { schema } = ctx;
  const outcomes = await countOf(ctx, OUTCOMES(schema), entityId); // before the decisions, with which they go
  const records = {
    decision: await countOf(ctx, DELETE(`${schema}.decision`), entityId),
    decision_outcome: outcomes,
    feature_vector: await countOf(ctx, DELETE(`${schema}.feature_vector`), entityId),
    guard_state: await countOf(ctx, DELETE(`${schema}.guard_state`), entityId),
  };
  await ctx.sql(BURY(schema), [await entityHash(ctx, entityId), ctx.now().toISOString()]);
  const held = Object.values(records).some(one => one > 0);
  return { outcome: held ? 'erased' : 'nothing_held', records };
}

/** The same for a caller. Again: nothing is left to delete. */
export async function eraseEntity(ctx: Context, input: EraseEntityInput): Promise<EntityErasure> {
  const entityId = input.entityId.toLowerCase();
  const asked = { userId: entityId, requestId: ctx.request.id, scope: 'health' } as const;
  const { outcome, records } = await eraseUser(ctx, (tx, { userId }) => forgetEntity(tx, userId), asked);
  return { entityType: input.entityType, entityId, outcome, records };
}
