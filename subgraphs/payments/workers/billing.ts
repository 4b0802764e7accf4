import { repeat } from '../../../events/repeat.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import type { Worker } from '../../../runtime/service.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { earliestOf } from '../../../runtime/time/due.js';
import { after, MINUTE_MS, SECOND_MS } from '../../../runtime/time/durations.js';
import { giveUp, tryInvoice } from '../commands/dunning.js';
import { postKeptCredit } from '../commands/kept-credit.js';
import { endPlannedPause, expireIncomplete, giveNotice, renew, termsOnce, type TermsOf } from '../commands/renewal.js';

/** A row that is claimed. */
interface Due {
  id: string;
  brandId: string;
}

/** Rows of which something is due by time alone. */
interface Kind {
  table: 'billing_subscription' | 'invoice';
  column: string;
  /** Condition beside the time, in SQL. */
  waiting: string;
  work(host: ServiceHost, row: Due, termsOf: TermsOf): Promise<unknown>;
}

const KINDS: readonly Kind[] = [
  { table: 'billing_subscription', column: 'next_notice_at', waiting: 'true', work: giveNotice },
  { table: 'billing_subscription', column: 'next_run_at', waiting: 'true', work: renew },
  { table: 'billing_subscription', column: 'resume_at', waiting: `status = 'paused'`, work: endPlannedPause },
  {
    table: 'billing_subscription',
    column: 'incomplete_until',
    waiting: `status = 'incomplete'`,
    work: (host, { id }) => expireIncomplete(host, id),
  },
  { table: 'invoice', column: 'next_attempt_at', waiting: 'true', work: collectDue },
  { table: 'invoice', column: 'give_up_at', waiting: 'true', work: (host, { id }) => giveUp(host, id) },
  { table: 'invoice', column: 'kept_credit_due_at', waiting: 'true', work: (host, { id }) => postKeptCredit(host, id) },
];

/** Rows per claim, and how many of them are worked on at once: the pool has few connections, and the processor takes most of the time. */
const [CLAIMED, AT_ONCE] = [20, 4];
/** By the database's clock, which all processes share: what a process that died had claimed is taken over after it. */
const LEASE_SECONDS = 30;
/** What failed by a fault of ours is tried again then. */
const FAULT_MS = 5 * MINUTE_MS;
const CHECK_MS = SECOND_MS;
/** Tries of a row by which races and deadlocks pass, and the wait between them. */
const [MOST_TRIES, AGAIN_MS] = [4, 100];

async function collectDue(host: ServiceHost, { id }: Due): Promise<void> {
  await tryInvoice(host, id, false);
}

const claimSql = ({ table, column, waiting }: Kind): string => `
  update payments.${table} set leased_until = clock_timestamp() + interval '${LEASE_SECONDS} seconds' where id in (
    select id from payments.${table} where ${column} <= $1 and ${waiting} and (leased_until is null or leased_until < clock_timestamp())
    order by ${column} limit ${CLAIMED} for update skip locked) returning id, brand_id as "brandId"`;

const claim = (host: ServiceHost, kind: Kind): Promise<Due[]> =>
  host.transaction(ctx => ctx.sql<Due>(claimSql(kind), [ctx.now().toISOString()]));

const release = (host: ServiceHost, { table }: Kind, ids: readonly string[]): Promise<unknown> =>
  host.transaction(ctx => ctx.sql(`update payments.${table} set leased_until = null where id = any($1)`, [ids]));

/** A row that cannot be worked on does not hold up the others. */
const putOff = (host: ServiceHost, { table, column }: Kind, id: string): Promise<unknown> =>
  host.transaction(ctx =>
    ctx.sql(`update payments.${table} set ${column} = $2, leased_until = null where id = $1`, [
      id,
      after(ctx.now(), FAULT_MS).toISOString(),
    ]),
  );

/** A lost race, a deadlock, a neighbour that does not answer: what another try may pass. */
const isPassing = (error: unknown): boolean => error instanceof Problem && (error.code === 'unavailable' || error.code === 'conflict');

/** Tries a row again at once, a few times, where that may help. */
async function persistently(kind: Kind, host: ServiceHost, row: Due, termsOf: TermsOf): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return void (await kind.work(host, row, termsOf));
    } catch (error) {
      if (tries === MOST_TRIES || !isPassing(error)) throw error;
      await new Promise(resolve => setTimeout(resolve, tries * AGAIN_MS * (1 + Math.random())));
    }
}

async function workOn(host: ServiceHost, kind: Kind, row: Due, termsOf: TermsOf): Promise<void> {
  try {
    await persistently(kind, host, row, termsOf);
  } catch (error) {
    host.log.error({ err: loggedError(error), id: row.id, due: kind.column }, 'billing failed; it is tried again in five minutes');
    await putOff(host, kind, row.id);
  }
}

/** Some at once, each taking the next as soon as it is done; at last their lease is given back. */
async function inLanes(host: ServiceHost, kind: Kind, rows: readonly Due[], termsOf: TermsOf): Promise<void> {
  const rest = [...rows];
  const lane = async (): Promise<void> => {
    for (let row = rest.shift(); row !== undefined; row = rest.shift()) await workOn(host, kind, row, termsOf);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  await release(
    host,
    kind,
    rows.map(({ id }) => id),
  );
}

/** Does all that is due now, in any number of processes at once: each row is claimed by one of them. Source: payments 7.8. */
export async function billDue(host: ServiceHost, isStopped: () => boolean = () => false): Promise<void> {
  const termsOf = termsOnce(host);
  for (const kind of KINDS)
    for (let rows = await claim(host, kind); rows.length > 0 && !isStopped(); rows = await claim(host, kind))
      await inLanes(host, kind, rows, termsOf);
}

const WAITING = KINDS.map(
  ({ table, column, waiting }) => `select min(${column}) as at from payments.${table} where ${column} is not null and ${waiting}`,
);
const nextDue = (ctx: Context): Promise<Date | null> => earliestOf(ctx, WAITING.join(' union all '));

const LEASED = ['billing_subscription', 'invoice'].map(
  table => `exists (select from payments.${table} where leased_until > clock_timestamp())`,
);

/** Renewal, dunning, and all else that comes by time alone; the next round comes when the last one is done. */
export const billingWorker: Worker = {
  role: 'scheduler',
  async start(host) {
    let stopped = false;
    const round = async (): Promise<void> => {
      const at = await host.read(async ctx => ({ due: await nextDue(ctx), now: ctx.now() }));
      if (at.due !== null && at.due <= at.now) await billDue(host, () => stopped);
    };
    const logged = (): Promise<void> =>
      round().catch(error => host.log.warn({ err: loggedError(error) }, 'a round of billing failed; the next one comes in a second'));
    const stop = repeat(logged, CHECK_MS);
    return {
      stop: async () => {
        stopped = true;
        await stop();
      },
    };
  },
};

const nothing = async (): Promise<void> => undefined;

/** The same function for the manual clock, which stands at each instant until all that is due there is done, by whatever process. */
export const billingTimer: Timer<Context> = {
  name: 'payments.billing',
  everySeconds: 3600, // the worker looks every second
  next: async ctx => (ctx.host.config.manualClock ? nextDue(ctx) : null),
  run: ctx => billDue(ctx.host),
  claimed: {
    claim: nothing,
    keep: nothing,
    finish: nothing,
    running: async ctx => {
      const [row] = await ctx.sql<{ is: boolean }>(`select ${LEASED.join(' or ')} as is`);
      return row!.is;
    },
  },
};
