import { createRequire } from 'node:module';
import { openPool } from '../../../runtime/data/pool.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import type pg from 'pg';

type Library = typeof import('@dbos-inc/dbos-sdk');
export type Dbos = Library['DBOS'];

const require = createRequire(import.meta.url);
const NAME = '@dbos-inc/dbos-sdk';
let taken = false;

/** The library keeps its executor in globals of its modules, so a second host of a process gets modules of its own. */
function load(): Library {
  if (taken) for (const path of Object.keys(require.cache)) if (path.includes(NAME)) delete require.cache[path];
  taken = true;
  return require(NAME) as Library;
}

/** Connections of the engine: one listens, one polls, one works. None is open before the first run. */
const CONNECTIONS = 3;
/** Messages come by LISTEN, and `remind` finds one whose notice was lost; this frees what waits for a cancelled run's. */
const POLL_MS = 3_600_000;
/** Never: the service's timers end waits, by a message. */
const NEVER_SECONDS = 10 * 365 * 86_400;

/** Repeats the notices of what nobody has taken, as the engine's trigger sends them. */
const REMIND = `
select pg_notify('dbos_notifications_channel', n.destination_uuid || '::' || n.topic)
from dbos.notifications n join dbos.workflow_status w on w.workflow_uuid = n.destination_uuid
where not n.consumed and w.status = 'PENDING' limit 1000`;

const silent = { info: () => undefined, debug: () => undefined, warn: () => undefined, error: () => undefined };

/** DBOS Transact in this process, on the suite's PostgreSQL, in the schema `dbos`, as the role of workflow. */
export class Engine {
  #dbos: Dbos | null = null;
  #launching: Promise<Dbos> | null = null;
  #pool: pg.Pool | null = null;
  #start: ((...args: never[]) => Promise<unknown>) | null = null;

  /** `body` executes the run whose engine id it is given. */
  constructor(
    private readonly host: ServiceHost,
    private readonly databaseUrl: string,
    private readonly executorId: string,
    private readonly codeVersion: string,
    private readonly body: (engineId: string) => Promise<void>,
  ) {}

  get dbos(): Dbos {
    return this.#dbos!;
  }

  /** Launches the engine, once; an idle service has none. */
  launch(): Promise<Dbos> {
    return (this.#launching ??= this.#launch());
  }

  async #launch(): Promise<Dbos> {
    const { DBOS } = load();
    this.#pool = openPool('workflow', this.databaseUrl, CONNECTIONS);
    DBOS.setConfig({
      name: 'workflow',
      systemDatabaseUrl: this.databaseUrl,
      systemDatabasePool: this.#pool as never,
      systemDatabaseSchemaName: 'dbos',
      runMigrations: false,
      executorID: this.executorId,
      applicationVersion: this.codeVersion,
      logger: silent as never,
    } as never);
    this.#start = DBOS.registerWorkflow(() => this.body(DBOS.workflowID!), { name: 'run' }) as never;
    await DBOS.launch();
    this.#dbos = DBOS;
    return DBOS;
  }

  /** Starts a run, or goes on with a copy of another up to a step of the engine. */
  async start(engineId: string, from: { id: string; step: number } | null): Promise<void> {
    const DBOS = await this.launch();
    if (from) await DBOS.forkWorkflow(from.id, from.step, { newWorkflowID: engineId } as never);
    else this.#forget(await DBOS.startWorkflow(this.#start as never, { workflowID: engineId } as never)());
  }

  /** What becomes of a run stands in our tables; its promise is nobody's. */
  #forget(handle: { getResult(): Promise<unknown> }): void {
    handle.getResult().catch(() => undefined);
  }

  async send(engineId: string, topic: string, payload: object, id: string): Promise<void> {
    await (await this.launch()).send(engineId, payload, topic, id);
  }

  /** Wakes runs whose messages came while nobody listened: one statement for all, where 10,000 waits of their own cost 3 % of a core. */
  async remind(): Promise<void> {
    await this.#pool?.query(REMIND);
  }

  async cancel(engineId: string): Promise<void> {
    await (await this.launch()).cancelWorkflow(engineId);
  }

  receive<T>(topic: string): Promise<T | null> {
    return this.dbos.recv<T>(topic, { timeoutSeconds: NEVER_SECONDS, pollingIntervalMs: POLL_MS } as never) as Promise<T | null>;
  }

  async stop(): Promise<void> {
    const dbos = await this.#launching?.catch(() => null);
    await dbos
      ?.shutdown({ deregister: true } as never)
      .catch(error => this.host.log.warn({ err: (error as Error).name }, 'the engine did not stop cleanly'));
    await this.#pool?.end().catch(() => undefined);
  }
}
