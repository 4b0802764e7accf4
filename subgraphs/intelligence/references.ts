import type { EntityClass, FilterQuery } from '@mikro-orm/postgresql';
import { mayAccess, ruleOf } from '../../runtime/access/access.js';
import type { Context } from '../../runtime/request/context.js';
import { isUuid } from '../../runtime/data/ids.js';
import { inOrder } from '../../runtime/data/loaders.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { LoopDecision } from './entities/decision.js';
import { LoopProposal, LoopTick } from './entities/loop.js';
import { RankingPolicy } from './entities/policy.js';
import { RegistryVersion } from './entities/registry.js';
import { LOOP_RUNNERS, READERS } from './entities/enums.js';

/** Rows by id in one statement; a caller whom the type's rule refuses finds nothing, and no user token does. */
const byId =
  <Row extends { id: string }>(entity: EntityClass<Row>, readers: Parameters<typeof ruleOf>[0]): ReferenceLoader =>
  async (ctx: Context, keys: readonly { id: string }[]) => {
    const ids = keys.map(({ id }) => id.toLowerCase());
    const where = { id: { $in: ids.filter(isUuid) } } as unknown as FilterQuery<Row>;
    const rows = mayAccess(ruleOf(readers), ctx.caller) ? ((await ctx.em.find(entity, where)) as Row[]) : [];
    return inOrder(ids, rows, row => row.id);
  };

/** What others own is pointed at; the fields that are added have rules of their own. */
const pointed: ReferenceLoader = async ({ caller }, keys) => keys.map(key => (caller.kind === 'user' ? null : key));

/** One batch loader for each type that is resolved by key. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  RankingPolicy: byId(RankingPolicy, READERS),
  RegistryVersion: byId(RegistryVersion, READERS),
  LoopDecision: byId(LoopDecision, READERS),
  LoopTick: byId(LoopTick, LOOP_RUNNERS),
  LoopProposal: byId(LoopProposal, READERS),
  User: pointed,
  Brand: pointed,
  FeatureFlag: pointed,
};
