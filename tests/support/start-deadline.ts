import { connect } from 'amqplib';
import type { Platform } from '../../gateway/composition/platform.js';
import { withServer } from './database.js';

/** The slowest machine took 40 s for a platform of all services on RabbitMQ. */
const START_MS = 240_000;
/** After one that did not start the next show whether it was the servers, without holding up the run for hours. */
const NEXT_MS = 45_000;
const ASK_MS = 10_000;

let deadlineMs = START_MS;

const CONNECTIONS = `select count(*)::int as open, count(*) filter (where wait_event_type = 'Lock')::int as waiting,
  (select setting from pg_settings where name = 'max_connections') as max from pg_stat_activity`;

async function probe(what: string, ask: () => Promise<string>): Promise<string> {
  const at = performance.now();
  const late = new Promise<string>(resolve => setTimeout(() => resolve('gives no answer'), ASK_MS).unref());
  const answer = await Promise.race([ask().catch(error => String(error)), late]);
  return `${what}: ${answer} (${Math.round(performance.now() - at)} ms)`;
}

/** How the servers of a platform are, for whoever reads why it did not start. */
async function serversOf(databaseUrl: string, amqpUrl: string | undefined): Promise<string> {
  const database = probe('PostgreSQL', () =>
    withServer(databaseUrl, async client => {
      const { rows } = await client.query<{ open: number; waiting: number; max: string }>(CONNECTIONS);
      return `${rows[0]!.open} of ${rows[0]!.max} connections, ${rows[0]!.waiting} wait for a lock`;
    }),
  );
  const broker = probe('RabbitMQ', async () => {
    const connection = await connect(amqpUrl!);
    await (await connection.createConfirmChannel()).close();
    await connection.close();
    return 'answers';
  });
  return (await Promise.all(amqpUrl ? [database, broker] : [database])).join('; ');
}

/** A platform that starts in time. @throws Error that says how its servers are; it is printed at once, as a run may be ended before its report. */
export async function startedInTime(starting: Promise<Platform>, databaseUrl: string, amqpUrl: string | undefined): Promise<Platform> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>(resolve => (timer = setTimeout(() => resolve(null), deadlineMs)));
  const started = await Promise.race([starting, late]).finally(() => clearTimeout(timer));
  if (started) return started;
  void starting.then(
    platform => platform.stop(),
    () => undefined,
  );
  const error = new Error(`a platform did not start within ${deadlineMs / 1_000} s; ${await serversOf(databaseUrl, amqpUrl)}`);
  deadlineMs = NEXT_MS;
  console.error(String(error));
  throw error;
}
