import { mayAccess, ruleOf } from '../../runtime/access/access.js';
import type { Context } from '../../runtime/request/context.js';
import { isUuid } from '../../runtime/data/ids.js';
import { inOrder } from '../../runtime/data/loaders.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { WorkflowDefinition } from './entities/definition.js';
import { WorkflowRun } from './entities/run.js';
import { WorkflowTask } from './entities/task.js';
import { READERS } from './entities/enums.js';
import { mayDecide } from './queries/assignee.js';

const mayRead = (ctx: Context): boolean => mayAccess(ruleOf(READERS), ctx.caller);

async function runs(ctx: Context, keys: readonly { id: string }[]): Promise<(WorkflowRun | null)[]> {
  const ids = keys.map(({ id }) => String(id).toLowerCase());
  if (!mayRead(ctx)) return ids.map(() => null);
  return inOrder(ids, await ctx.em.find(WorkflowRun, { id: { $in: ids.filter(isUuid) } }), run => run.id);
}

async function tasks(ctx: Context, keys: readonly { id: string }[]): Promise<(WorkflowTask | null)[]> {
  const ids = keys.map(({ id }) => String(id).toLowerCase());
  const found = await ctx.em.find(WorkflowTask, { id: { $in: ids.filter(isUuid) } });
  return inOrder(
    ids,
    found.filter(task => mayDecide(ctx, task)),
    task => task.id,
  );
}

async function definitions(ctx: Context, keys: readonly { key: string }[]): Promise<(WorkflowDefinition | null)[]> {
  const asked = keys.map(({ key }) => String(key));
  if (!mayRead(ctx)) return asked.map(() => null);
  return inOrder(asked, await ctx.em.find(WorkflowDefinition, { key: { $in: asked } }), one => one.key);
}

/** Types of other services: nothing but the key; who may not read what is added to them is refused by its field. */
const extended: ReferenceLoader = async (_ctx, keys: readonly { id: string }[]) => keys.map(({ id }) => ({ id }));

/** One batch loader for each type that is resolved by key. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  WorkflowRun: runs,
  WorkflowTask: tasks,
  WorkflowDefinition: definitions,
  User: extended,
  CriticalAlert: extended,
  LoopTick: extended,
};
