import type { Context } from '../../../runtime/request/context.js';
import { newId } from '../../../runtime/data/ids.js';

/** What a parent waits for: the end of its child, by the child's id. */
export const RUN_ENDED = 'workflow.run_ended';

/** Wakes the executors, once the transaction has committed; they look twice a second anyway. */
export const wakeExecutors = (ctx: Context): void => ctx.afterCommit(() => ctx.host.transport.hint('jobs', 'workflow', null));

/** Plans a message to a run, which ends its wait for the topic; only the first one for a topic counts. */
export async function sendToRun(
  ctx: Context,
  engineId: string,
  topic: string,
  payload: object,
  idempotencyKey: string | null = null,
): Promise<void> {
  await ctx.sql(
    `insert into workflow.message (id, engine_id, topic, payload, idempotency_key, created_at) values ($1, $2, $3, $4::jsonb, $5, clock_timestamp())
     on conflict do nothing`,
    [newId(), engineId, topic, JSON.stringify(payload), idempotencyKey],
  );
  wakeExecutors(ctx);
}

/** Plans a message to every run that waits for the name and the key; a run that has had it by its idempotency key does not get it again. */
export async function sendToWaiting(ctx: Context, name: string, key: string, payload: object, idempotencyKey: string): Promise<void> {
  await ctx.sql(
    `insert into workflow.message (id, engine_id, topic, payload, idempotency_key, created_at)
     select gen_random_uuid(), w.engine_id, w.topic, $3::jsonb, $4, clock_timestamp() from workflow.wait w
     where w.name = $1 and (w.key is null or w.key = $2) on conflict do nothing`,
    [name, key, JSON.stringify({ payload }), idempotencyKey],
  );
  wakeExecutors(ctx);
}

/** Plans messages to the parents of runs that have ended: how they did. */
export async function sendToParents(ctx: Context, ids: readonly string[]): Promise<void> {
  await ctx.sql(
    `insert into workflow.message (id, engine_id, topic, payload, created_at)
     select gen_random_uuid(), w.engine_id, w.topic,
       jsonb_build_object('payload', jsonb_build_object('status', r.status, 'output', r.output, 'error_code', r.error_code)), clock_timestamp()
     from workflow.workflow_run_meta r join workflow.wait w on w.name = $2 and w.key = r.id::text where r.id = any($1) on conflict do nothing`,
    [ids, RUN_ENDED],
  );
  wakeExecutors(ctx);
}
