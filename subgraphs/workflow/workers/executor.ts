import { AsyncResource } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { keepLease } from '../../../events/leases.js';
import { prepared } from '../../../events/prepared.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { errorCodeOf } from '../../../runtime/jobs/redact.js';
import { loggedError } from '../../../runtime/observe/log.js';
import { Engine } from '../ports/dbos.js';
import { finishRun, type RunEnd } from '../commands/ending.js';
import { alarmOldVersions, endLease, executable, LEASE_MS, renewLease, takeOver } from './lease.js';
import { NOT_WAITING } from '../commands/records.js';
import { EngineWorkflow } from './engine-workflow.js';
import { DUE_TO_CANCEL, undo } from './undoing.js';
import { StepFailed, type WorkflowDefinitionCode } from '../ports/workflow.js';

const LOOK_MS = 500;
const CLAIMED_AT_ONCE = 50;
const CLAIM_LOCK = 0x77666c6b;

interface RunRow {
  id: string;
  engine_id: string;
  engine_from: { id: string; step: number } | null;
  definition_key: string;
  definition_version: number;
  key: string;
  user_id: string | null;
  cause_id: string | null;
  input: unknown;
  status: string;
}

interface MessageRow {
  id: string;
  engine_id: string;
  topic: string;
  payload: object;
}

/** A run that was taken over while it waited waits on: that it does so is recorded, and not noted again. */
const CLAIM = `
update workflow.workflow_run_meta r set status = case when waiting_kind is null then 'running' else 'waiting' end, executor = $1, started_at = coalesce(started_at, $2)
where id in (select p.id from unnest($3::text[], $4::int[], $5::int[], $6::int[]) as d(key, since, version, most) cross join lateral (
  select id from workflow.workflow_run_meta m where m.status = 'pending' and m.definition_key = d.key and m.definition_version between d.since and d.version
  order by m.created_at, m.id for update skip locked
  limit least(${CLAIMED_AT_ONCE}, greatest(0, d.most - (select count(*) from workflow.workflow_run_meta b where b.definition_key = d.key and b.status = 'running')))) p)
returning id, engine_id, engine_from`;

/** Messages to runs that have been started. */
const UNSENT = `from workflow.message m join workflow.workflow_run_meta r on r.engine_id = m.engine_id
         where m.sent_at is null and r.status in ('running', 'waiting') and r.executor is not null`;

const WAITING = `
select exists (select from workflow.workflow_run_meta where status = 'pending') as pending, exists (select ${UNSENT}) as sent,
  exists (select from workflow.workflow_run_meta r where ${DUE_TO_CANCEL}) as cancelled`;

interface Waiting {
  /** A run can be started. */
  pending: boolean;
  /** A message was sent to one that has been. */
  sent: boolean;
  /** One is to be ended. */
  cancelled: boolean;
}

/** Executes runs in this process: what is to be done stands in rows, so any process may do it, and one that died loses nothing. */
export class Executor {
  readonly id = randomUUID();
  readonly #engine: Engine;
  readonly #version: string;
  #looks: NodeJS.Timeout | undefined;
  #endRenewals: (() => Promise<void>) | undefined;
  #looking: Promise<void> | null = null;
  #again = false;
  #stopping = false;
  #hint: { stop(): void } | null = null;

  constructor(
    private readonly host: ServiceHost,
    databaseUrl: string,
    private readonly definitions: ReadonlyMap<string, WorkflowDefinitionCode>,
  ) {
    this.#version = [...definitions.values()].map(one => `${one.key}@${one.version}`).join(',');
    this.#engine = new Engine(host, databaseUrl, this.id, this.#version, engineId => this.#execute(engineId));
  }

  start(): this {
    this.#hint = this.host.transport.onHint('jobs', 'workflow', () => this.look());
    this.#looks = setInterval(() => this.look(), LOOK_MS);
    this.#endRenewals = keepLease(() => this.#renew(), LEASE_MS);
    void this.#renew().then(
      () => this.look(),
      () => undefined,
    );
    return this;
  }

  /** Outside whoever calls: a hint may come out of a step, inside which the engine starts no run. */
  readonly look = AsyncResource.bind((): void => this.#look());

  #look(): void {
    if (this.#stopping) return;
    if (this.#looking) return void (this.#again = true);
    this.#again = false;
    this.#looking = this.#work()
      .catch(error => this.host.log.warn({ err: loggedError(error) }, 'runs could not be looked after; it is tried again'))
      .finally(() => {
        this.#looking = null;
        if (this.#again) this.#look();
      });
  }

  async #renew(): Promise<void> {
    if (this.#stopping) return;
    await renewLease(this.host, this.id, this.#version);
    if (await takeOver(this.host)) this.look();
    await this.#engine.remind();
    await alarmOldVersions(this.host, this.definitions);
  }

  async #work(): Promise<void> {
    const { pending, sent, cancelled } = await this.#waiting();
    if (pending) for (const run of await this.#claim()) await this.#start(run);
    if (pending || sent) await this.#deliver();
    if (cancelled) await this.#cancel();
  }

  /** What there is to do: most of the time nothing, found by one statement. */
  async #waiting(): Promise<Waiting> {
    return (await this.host.read(ctx => ctx.sql<Waiting>(prepared(WAITING))))[0]!;
  }

  /** What could not be started is to be done still. */
  async #start({ id, engine_id, engine_from }: RunRow): Promise<void> {
    try {
      await this.#engine.start(engine_id, engine_from);
    } catch (error) {
      await this.host.transaction(ctx =>
        ctx.sql(
          `update workflow.workflow_run_meta set status = 'pending', executor = null where id = $1 and status in ('running', 'waiting')`,
          [id],
        ),
      );
      throw error;
    }
  }

  /** One process at a time, so that a definition's limit counts for all of them. */
  #claim(): Promise<RunRow[]> {
    return this.host.transaction(async ctx => {
      await ctx.sql('select pg_advisory_xact_lock($1)', [CLAIM_LOCK]);
      return ctx.sql<RunRow>(CLAIM, [this.id, ctx.now().toISOString(), ...executable(this.definitions)]);
    });
  }

  /** Messages to runs: a lost one would be a run that waits for ever, so it is sent before it is marked, under an id of its own. */
  async #deliver(): Promise<void> {
    const messages = await this.host.read(ctx =>
      ctx.sql<MessageRow>(`select m.id, m.engine_id, m.topic, m.payload ${UNSENT} order by m.created_at limit 200`),
    );
    if (!messages.length) return;
    await this.#awake(messages);
    for (const { id, engine_id, topic, payload } of messages) await this.#engine.send(engine_id, topic, payload, `${id}:${engine_id}`);
    await this.host.transaction(ctx =>
      ctx.sql('update workflow.message set sent_at = clock_timestamp() where id = any($1)', [messages.map(message => message.id)]),
    );
    if (messages.length === 200) this.#again = true;
  }

  /** Noted before the messages are sent: the run itself notes when it waits again. What else could have ended the wait goes. */
  #awake(messages: readonly MessageRow[]): Promise<unknown> {
    const waits = [messages.map(message => message.engine_id), messages.map(message => message.topic)];
    const these = 'unnest($1::text[], $2::text[]) as w(engine_id, topic)';
    return this.host.transaction(async ctx => {
      await ctx.sql(
        `update workflow.workflow_run_meta r set status = 'running', ${NOT_WAITING} from ${these}
         where r.engine_id = w.engine_id and r.waiting_topic = w.topic and r.status = 'waiting'`,
        waits,
      );
      await ctx.sql(
        `delete from workflow.timer t using ${these} where t.engine_id = w.engine_id and t.topic = w.topic and t.released_at is null`,
        waits,
      );
      await ctx.sql(`delete from workflow.wait t using ${these} where t.engine_id = w.engine_id and t.topic = w.topic`, waits);
    });
  }

  /** One run that cannot be ended does not keep the others. */
  async #cancel(): Promise<void> {
    const runs = await this.host.read(ctx =>
      ctx.sql<RunRow>(
        `select id, engine_id, definition_key, user_id, status from workflow.workflow_run_meta r where ${DUE_TO_CANCEL} order by created_at limit 20`,
      ),
    );
    for (const run of runs)
      await this.#end(run).catch(error =>
        this.host.log.warn({ err: loggedError(error), run_id: run.id }, 'a run could not be ended; it is tried again'),
      );
  }

  async #end(run: RunRow): Promise<void> {
    await this.#engine.cancel(run.engine_id).catch(() => undefined); // it may not have begun
    if (run.status === 'cancelled' && !(await undo(this.host, this.definitions, run))) return;
    await this.host.transaction(ctx => ctx.sql('update workflow.workflow_run_meta set cancel_pending = false where id = $1', [run.id]));
  }

  async #execute(engineId: string): Promise<void> {
    const run = await this.host.read(async ctx => {
      const [row] = await ctx.sql<RunRow>('select * from workflow.workflow_run_meta where engine_id = $1', [engineId]);
      return row;
    });
    const definition = run && this.definitions.get(run.definition_key);
    if (!run || !definition) return;
    const { id: runId, key, user_id: userId, cause_id: causeId, definition_version: definitionVersion } = run;
    const executed = { runId, engineId, key, userId, causeId, definitionVersion };
    const workflow = new EngineWorkflow(this.host, this.#engine, this.definitions, definition, executed);
    try {
      const output = await definition.run(workflow, (run.input ?? {}) as never);
      await this.#finish(run, { status: 'succeeded', output, code: null });
    } catch (error) {
      if ((error as Error).name.startsWith('DBOS')) throw error; // cancelled, or no longer ours
      const code = error instanceof StepFailed ? error.code : errorCodeOf(error);
      await this.#finish(run, { status: 'failed', output: null, code });
    }
  }

  async #finish(run: RunRow, end: RunEnd): Promise<void> {
    const finish = (): Promise<void> => this.host.transaction(ctx => finishRun(ctx, run, end));
    await this.#engine.dbos.runStep(finish, { name: 'finish' });
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#looks);
    await this.#endRenewals?.();
    this.#hint?.stop();
    await this.#looking;
    await this.#engine.stop();
    await endLease(this.host, this.id).catch(() => undefined);
  }
}
