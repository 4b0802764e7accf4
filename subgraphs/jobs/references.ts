import { mayAccess, ruleOf } from '../../runtime/access/access.js';
import type { Context } from '../../runtime/request/context.js';
import { isUuid } from '../../runtime/data/ids.js';
import { inOrder } from '../../runtime/data/loaders.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { Job } from './entities/job.js';
import { JobQueue } from './entities/queue.js';
import { JobSchedule } from './entities/schedule.js';
import { READERS } from './entities/enums.js';

const mayRead = (ctx: Context): boolean => mayAccess(ruleOf(READERS), ctx.caller);

async function jobs(ctx: Context, keys: readonly { id: string }[]): Promise<(Job | null)[]> {
  const ids = keys.map(({ id }) => String(id).toLowerCase());
  if (!mayRead(ctx)) return ids.map(() => null);
  return inOrder(ids, await ctx.em.find(Job, { id: { $in: ids.filter(isUuid) } }), job => job.id);
}

async function queues(ctx: Context, keys: readonly { name: string }[]): Promise<(JobQueue | null)[]> {
  const names = keys.map(({ name }) => String(name));
  if (!mayRead(ctx)) return names.map(() => null);
  return inOrder(names, await ctx.em.find(JobQueue, { name: { $in: names } }), queue => queue.name);
}

async function schedules(ctx: Context, keys: readonly { key: string }[]): Promise<(JobSchedule | null)[]> {
  const asked = keys.map(({ key }) => String(key));
  if (!mayRead(ctx)) return asked.map(() => null);
  return inOrder(asked, await ctx.em.find(JobSchedule, { key: { $in: asked } }), schedule => schedule.key);
}

/** Accounts and services are of others: whoever may read jobs may follow the key, and nobody else learns anything by it. */
const pointed =
  <Key extends object>(keyOf: (key: Key) => Key): ReferenceLoader =>
  async (ctx, keys: readonly Key[]) =>
    keys.map(key => (mayRead(ctx) ? keyOf(key) : null));

/** One batch loader for each type that is resolved by key. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  Job: jobs,
  JobQueue: queues,
  JobSchedule: schedules,
  User: pointed(({ id }: { id: string }) => ({ id })),
  PlatformService: pointed(({ slug }: { slug: string }) => ({ slug })),
};
