import { request as httpRequest } from 'undici';
import { z } from 'zod';
import { CATALOGUE } from '../../../events/catalogue.js';
import { SLUGS, type Slug } from '../../../events/slugs.js';
import type { Context } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { jobQueue, Permanent, type JobRun, type JobScheduleDefinition } from '../../../runtime/jobs/queue.js';
import { stored } from '../../../runtime/federation/federation.js';
import { OPERATIONS } from '../ports/operations.js';

/** Refusals that another try would only repeat. */
const FINAL = ['invalid_request', 'not_found', 'forbidden', 'insufficient_scope', 'conflict'];

async function operate({ host, payload }: JobRun<{ operation: string; variables?: Record<string, unknown> }>) {
  const operation = OPERATIONS[payload.operation] ?? giveUp('operation_not_allowed');
  return host.federation.run<object>(operation, payload.variables ?? {}).then(
    data => ({ fields: Object.keys(data).length }),
    error => (error instanceof Problem && FINAL.includes(error.code) ? giveUp(error.code) : Promise.reject(error)),
  );
}

function giveUp(code: string): never {
  throw new Permanent(code);
}

/** Calls one allow-listed operation of the suite as `svc-jobs`. */
const graphqlOperation = jobQueue('jobs', {
  name: 'jobs.graphql_operation',
  title: 'Calling an operation of the suite',
  payload: z.object({ operation: z.string().max(128), variables: z.record(z.string(), z.unknown()).optional() }),
  run: operate,
});

/** Publishes an event that jobs may append, once. */
const eventEmit = jobQueue('jobs', {
  name: 'jobs.event_emit',
  title: 'Publishing an event',
  payload: z.object({ type: z.string().max(128), data: z.record(z.string(), z.unknown()), user_id: z.uuid().optional() }),
  async run({ payload, once }) {
    const event = CATALOGUE.get(payload.type) ?? giveUp('unknown_event_type');
    if (event.owner !== 'jobs' && !event.emitters.includes('jobs')) giveUp('event_not_allowed');
    if (!event.schema.safeParse(payload.data).success) giveUp('invalid_event_data');
    await once('emit', async ctx => ctx.emit(event, payload.data as never, { userId: payload.user_id ?? null }));
  },
});

const PROBE_MS = 5000;

/** Asks a service of the suite whether it lives; other hosts cannot be named. */
const httpProbe = jobQueue('jobs', {
  name: 'jobs.http_probe',
  title: 'Looking whether a service answers',
  retryLimit: 2,
  payload: z.object({ service: z.enum(SLUGS as readonly [Slug, ...Slug[]]), path: z.enum(['readyz', 'healthz']).optional() }),
  async run({ payload, host, signal }) {
    const base = host.config.subgraphUrls[payload.service] ?? host.config.baseUrl;
    const url = `${base}/${payload.service}/${payload.path ?? 'readyz'}`;
    const answer = await httpRequest(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)]) });
    await answer.body.dump({ limit: 65_536 });
    if (answer.statusCode !== 200) throw Object.assign(new Error(`it answered ${answer.statusCode}`), { code: 'not_ready' });
    return { status: answer.statusCode };
  },
});

const CHUNK = 5000;

/** Deletes in pieces, so that no transaction holds many rows for long. */
async function inPieces(run: JobRun<unknown>, remove: (ctx: Context) => Promise<number>): Promise<number> {
  let sum = 0;
  for (let removed = CHUNK; removed === CHUNK && !run.signal.aborted; sum += removed) removed = await run.host.transaction(remove);
  return sum;
}

const EXPIRED = `
with gone as (
  delete from jobs.job_meta where id in (select m.id from jobs.job_meta m join jobs.queue_definition q on q.name = m.queue
    where m.status in ('succeeded', 'cancelled', 'discarded') and m.finished_at < $1::timestamptz - make_interval(days => q.retention_days) limit ${CHUNK})
  returning id)
delete from pgboss.job where id in (select id from gone) returning 1`;

/** Finished jobs leave after their queue's days; dead ones stay until somebody decides. Source: jobs 2, 7.8. */
const retention = jobQueue('jobs', {
  name: 'jobs.retention',
  title: 'Deleting old jobs',
  policy: 'exclusive',
  payload: z.object({}),
  async run(run) {
    const jobs = await inPieces(run, async ctx => (await ctx.sql(EXPIRED, [ctx.now().toISOString()])).length);
    await run.host.transaction(ctx =>
      ctx.sql(`delete from jobs.schedule_occurrence where due_at < $1::timestamptz - interval '400 days'`, [ctx.now().toISOString()]),
    );
    return { jobs };
  },
});

/** What the engine keeps of finished jobs is of no use to it; workers that have been silent for a day are gone. */
const maintenance = jobQueue('jobs', {
  name: 'jobs.maintenance',
  title: 'Tidying the engine',
  policy: 'exclusive',
  payload: z.object({}),
  async run(run) {
    const rows = await inPieces(
      run,
      async ctx =>
        (
          await ctx.sql(
            `delete from pgboss.job where ctid in (select ctid from pgboss.job_common where state in ('completed', 'cancelled')
               and completed_on < clock_timestamp() - interval '1 hour' limit ${CHUNK}) and state in ('completed', 'cancelled') returning 1`,
          )
        ).length,
    );
    await run.host.transaction(ctx => ctx.sql(`delete from jobs.worker_beat where last_beat_at < clock_timestamp() - interval '1 day'`));
    return { rows };
  },
});

const DOSE = stored(`query JobsDoseMessages($filter: CommsMessageFilter) {
  commsMessages(filter: $filter, first: 10) { nodes { status statusReason } }
}`);

/** What becomes of a reminder that comms leaves out on purpose, or is about to send. */
const SETTLED = ['SENT', 'DELIVERED', 'SKIPPED', 'CANCELLED', 'PENDING', 'SCHEDULED', 'QUEUED', 'SENDING'];

/** Looks whether a dose reminder was sent; it never sends one. What comms does not know raises an alarm. Source: jobs 5. */
export const doseReminderWatch = jobQueue('jobs', {
  name: 'jobs.dose_reminder_watch',
  title: 'Watching a dose reminder',
  payload: z.object({ reminder_id: z.uuid(), protocol_id: z.uuid() }),
  async run(run) {
    const filter = { entityType: 'dose_reminder', entityId: run.payload.reminder_id };
    const { commsMessages } = await run.host.federation.run<{ commsMessages: { nodes: { status: string }[] } }>(DOSE, { filter });
    if (commsMessages.nodes.some(({ status }) => SETTLED.includes(status))) return { outcome: 'told' };
    return giveUp('reminder_not_told'); // a dead job is what developers are told of
  },
});

export const queues = [graphqlOperation, eventEmit, httpProbe, retention, maintenance, doseReminderWatch];

export const schedules: readonly JobScheduleDefinition[] = [
  { key: 'jobs.retention', queue: 'jobs.retention', cron: '20 3 * * *', payload: {}, misfire: 'once' },
  { key: 'jobs.maintenance', queue: 'jobs.maintenance', cron: '35 3 * * *', payload: {} },
];
