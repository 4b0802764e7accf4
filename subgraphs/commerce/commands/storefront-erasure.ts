import { newId } from '../../../runtime/data/ids.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { Context } from '../../../runtime/request/context.js';
import { after, HOUR_MS, SECOND_MS } from '../../../runtime/time/durations.js';
import { StorefrontErasure } from '../entities/sync.js';
import { storefrontOf } from '../ports/storefront.js';

const LEAVE = `insert into commerce.storefront_erasure (id, external_id, due_at, created_at) values ($1, $2, $3, $3) on conflict (external_id) do nothing`;

/** Leaves to the storefront's worker which customers it has to forget. */
export async function leaveStorefrontErasure(ctx: Context, customers: readonly { externalId: string }[]): Promise<void> {
  for (const { externalId } of customers) await ctx.sql(LEAVE, [newId(), externalId, ctx.now().toISOString()]);
}

/** 5 s, 10 s, 20 s, … an hour. */
const pause = (attempts: number): number => Math.min(HOUR_MS, 5 * SECOND_MS * 2 ** Math.min(attempts, 20));

/** Has the storefront forget a customer, outside transactions; what fails is tried again for as long as it takes. */
export async function eraseAtStorefront({ host, log }: Context, { id, externalId, attempts }: StorefrontErasure): Promise<void> {
  const isDone = await storefrontOf(host)
    .eraseCustomer(externalId)
    .then(() => true)
    .catch(error => (log.warn({ err: loggedError(error), erasure: id }, 'the storefront has not forgotten a customer'), false));
  await host.transaction(async ctx => {
    const change = isDone ? { dueAt: null, doneAt: ctx.now() } : { dueAt: after(ctx.now(), pause(attempts)) };
    await ctx.em.nativeUpdate(StorefrontErasure, { id }, { ...change, attempts: attempts + 1 });
  });
}
