import { newId } from '../../../runtime/data/ids.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { Context } from '../../../runtime/request/context.js';
import { after } from '../../../runtime/time/durations.js';
import { StorefrontErasure } from '../entities/sync.js';
import { storefrontOf } from '../ports/storefront.js';
import { taskPause } from '../rules/task.js';

const LEAVE = `insert into commerce.storefront_erasure (id, external_id, due_at, created_at) values ($1, $2, $3, $3)
on conflict (external_id) do update set due_at = excluded.due_at, done_at = null`;

/** Leaves to the storefront's worker which customers it has to forget. */
export async function leaveStorefrontErasure(ctx: Context, customers: readonly { externalId: string }[]): Promise<void> {
  for (const { externalId } of customers) await ctx.sql(LEAVE, [newId(), externalId, ctx.now().toISOString()]);
}

/** Has the storefront forget a customer, outside transactions; what fails is tried again for as long as it takes. */
export async function eraseAtStorefront({ host, log }: Context, { id, externalId, attempts }: StorefrontErasure): Promise<void> {
  const isDone = await storefrontOf(host)
    .eraseCustomer(externalId)
    .then(() => true)
    .catch(error => (log.warn({ err: loggedError(error), erasure: id }, 'the storefront has not forgotten a customer'), false));
  await host.transaction(async ctx => {
    const change = isDone ? { dueAt: null, doneAt: ctx.now() } : { dueAt: after(ctx.now(), taskPause(attempts)) };
    await ctx.em.nativeUpdate(StorefrontErasure, { id }, { ...change, attempts: attempts + 1 });
  });
}
