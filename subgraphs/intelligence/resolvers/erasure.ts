import { Arg, Ctx, Field, ID, Mutation, ObjectType, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { eraseUser, type ErasureOutcome, type ErasureRequest } from '../../../runtime/erasure/erasure.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { READERS } from '../entities/enums.js';
import { EraseEntityInput } from '../inputs/policy.js';
import { entityHash, lockEntity } from '../queries/entity-lock.js';

@Access(READERS)
@ObjectType({ description: 'What the erasure of an entity removed.' })
export class EntityErasure {
  @Field(() => String)
  entityType: string;

  @Field(() => ID)
  entityId: string;

  @Field(() => String, { description: 'erased, or nothing_held.' })
  outcome: string;

  @Field(() => JSONObject, { description: 'Rows deleted per table.' })
  records: Readonly<Record<string, number>>;
}

const count = async (ctx: Context, statement: string, entityId: string): Promise<number> => {
  const [row] = await ctx.sql<{ n: number }>(statement, [entityId]);
  return row!.n;
};

const deleting = (table: string): string =>
  `with gone as (delete from ${table} where entity_id = $1 returning 1) select count(*)::int as n from gone`;

/** A keyed hash of the id keeps what comes later out; which entity it was cannot be read from it. */
async function bury(ctx: Context, entityId: string): Promise<void> {
  const hash = await entityHash(ctx, entityId);
  await ctx.sql(
    `insert into ${ctx.schema}.entity_tombstone (entity_hash, erased_at) values ($1, $2) on conflict (entity_hash) do update set erased_at = excluded.erased_at`,
    [hash, ctx.now().toISOString()],
  );
}

/**
 * Deletes decisions (their outcomes cascade), feature vectors and guard state of an entity, and leaves a tombstone. Aggregates, metrics
 * and proposals stay. Model artefacts follow at the next training. Source: spec 1, Personal health data; intelligence 7.3.20.
 */
export async function erase(ctx: Context, { userId, scope }: ErasureRequest): Promise<ErasureOutcome> {
  if (scope === 'marketing') return { outcome: 'nothing_held', records: {} };
  const entityId = userId.toLowerCase();
  await lockEntity(ctx, entityId, 'alone');
  const { schema } = ctx;
  const outcomes = await count(
    ctx,
    `select count(*)::int as n from ${schema}.decision_outcome o join ${schema}.decision d on d.id = o.decision_id where d.entity_id = $1`,
    entityId,
  );
  const records = {
    decision: await count(ctx, deleting(`${schema}.decision`), entityId),
    decision_outcome: outcomes,
    feature_vector: await count(ctx, deleting(`${schema}.feature_vector`), entityId),
    guard_state: await count(ctx, deleting(`${schema}.guard_state`), entityId),
  };
  await bury(ctx, entityId);
  const held = Object.values(records).some(one => one > 0);
  return { outcome: held ? 'erased' : 'nothing_held', records };
}

@Resolver()
export class ErasureResolver {
  @Access(READERS)
  @Mutation(() => EntityErasure, { description: 'Deletes everything about an entity. Again: nothing is left to delete.' })
  async eraseEntity(@Arg('input', () => EraseEntityInput) input: EraseEntityInput, @Ctx() ctx: Context): Promise<EntityErasure> {
    const entityId = input.entityId.toLowerCase();
    const { outcome, records } = await eraseUser(ctx, erase, { userId: entityId, requestId: ctx.request.id, scope: 'health' });
    return { entityType: input.entityType, entityId, outcome, records };
  }
}
