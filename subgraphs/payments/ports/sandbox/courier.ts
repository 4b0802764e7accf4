import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { loggedError, type Logger } from '../../../../runtime/observe/log.js';
import { mature } from './charges.js';
import { show } from './disputes.js';
import { bodyOf, CLAIM_MS, inMs, NOTICE_DELAY_MS } from './notices.js';
import type { Kind, SandboxObject } from './objects.js';
import { maturePayout } from './payouts.js';
import type { Delivery, SandboxStore, SandboxTransaction } from './store.js';

/** Between looks at least, so that what comes together goes together, and at most, because others may have planned something, ms. */
const [SHORTEST_MS, LONGEST_MS] = [20, 5_000];
const BATCH = 16;
/** A call of our own that has waited for longer is left to a look: its claim may be over. */
const STALE_MS = CLAIM_MS / 2;
const CALL_TIMEOUT_MS = 5_000;
/** Tries of a call; the wait doubles from the delay up to half a minute. */
const MAX_TRIES = 16;
const MAX_WAIT_MS = 30_000;

export interface CourierSetting {
  /** Inbound webhook of payments. */
  url: string;
  secret: string;
  log: Logger;
}

type Notice = SandboxObject<'notice'>;

/** `t=<unix seconds>,v1=<hex>` over `<t>.<body>`. Source: payments 4.5. */
export function signatureOf(body: Buffer, secret: string, at: Date): string {
  const seconds = Math.floor(at.getTime() / 1000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex')}`;
}

/** A call that this process has planned. */
interface Own {
  notice: Notice;
  /** When it goes out, epoch ms. */
  at: number;
}

/** Calls payments' webhook, and lets happen what happens by itself. */
export class Courier {
  readonly #stopping = new AbortController();
  #woken = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** Something was planned during a look, which may not have seen it. */
  #isWanted = false;
  /** It waits for longer than a call that is planned now will. */
  #isLong = false;
  readonly #own: Own[] = [];
  #delivering: Promise<void> | null = null;

  constructor(
    private readonly store: SandboxStore,
    private readonly setting: CourierSetting,
  ) {
    store.afterCommit = tx => this.#planned(tx);
  }

  start(): void {
    this.#running = this.#loop();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#woken.abort();
    await Promise.all([this.#running, this.#delivering]);
  }

  /** What a transaction has planned is at hand, and needs no look. */
  #planned({ ownCalls, hasDue }: SandboxTransaction): void {
    const at = Date.now() + NOTICE_DELAY_MS;
    this.#own.push(...ownCalls.map(notice => ({ notice, at })));
    if (ownCalls.length > 0) this.#delivering ??= this.#deliverOwn().finally(() => (this.#delivering = null));
    if (hasDue) this.#wake();
  }

  #wake(): void {
    this.#isWanted = true;
    if (this.#isLong) this.#woken.abort();
  }

  /** Makes the calls that this process has planned; those that come meanwhile go together. */
  async #deliverOwn(): Promise<void> {
    while (this.#own.length > 0) {
      await this.#sleep(this.#own[0]!.at - Date.now(), this.#stopping.signal);
      if (this.#stopping.signal.aborted) return;
      const now = Date.now();
      const due = this.#own.filter(({ at }) => at <= now).slice(0, BATCH);
      this.#own.splice(0, due.length);
      const notices = due.filter(({ at }) => now - at < STALE_MS).map(({ notice }) => notice);
      await this.#deliverAll(notices).catch(error =>
        this.setting.log.warn({ err: loggedError(error) }, 'deliveries of the sandbox could not be noted; they are made again'),
      );
    }
  }

  async #deliverAll(notices: readonly Notice[]): Promise<void> {
    if (notices.length === 0) return;
    const deliveries = await Promise.all(notices.map(notice => this.#attempt(notice)));
    await this.store.noteDeliveries(deliveries);
    if (deliveries.some(({ waitMs }) => waitMs !== null)) this.#wake();
  }

  async #loop(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#isWanted = false;
      const ms = await this.#look().catch(error => {
        this.setting.log.warn({ err: loggedError(error) }, 'the sandbox could not look at what is due; it is tried again');
        return LONGEST_MS;
      });
      await this.#pause(this.#isWanted ? SHORTEST_MS : ms);
    }
  }

  async #pause(ms: number): Promise<void> {
    this.#woken = new AbortController();
    this.#isLong = ms > NOTICE_DELAY_MS;
    if (!this.#stopping.signal.aborted) await this.#sleep(ms, this.#woken.signal);
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined);
  }

  /** Does what is due. @returns how long to wait for what comes next, ms. */
  async #look(): Promise<number> {
    const { kinds, ms } = await this.store.waiting();
    if (kinds.length === 0) return Math.min(Math.max(ms ?? LONGEST_MS, SHORTEST_MS), LONGEST_MS);
    if (kinds.some(kind => kind !== 'notice')) await this.store.transaction(tx => this.#change(tx, kinds));
    const notices = kinds.includes('notice') ? await this.store.transaction(tx => tx.claimOnly('notice', inMs(CLAIM_MS), BATCH)) : [];
    await this.#deliverAll(notices);
    return SHORTEST_MS;
  }

  /** What changes by itself. */
  async #change(tx: SandboxTransaction, kinds: readonly Kind[]): Promise<void> {
    const until = inMs(CLAIM_MS);
    const claimed = async <K extends Kind>(kind: K): Promise<SandboxObject<K>[]> =>
      kinds.includes(kind) ? tx.claim(kind, until, BATCH) : [];
    for (const charge of await claimed('charge')) await mature(tx, charge);
    for (const dispute of await claimed('dispute')) await show(tx, dispute);
    for (const payout of await claimed('payout')) await maturePayout(tx, payout);
  }

  /** Makes one call now. */
  async deliver(notice: Notice): Promise<void> {
    await this.#deliverAll([notice]);
  }

  /** One call, signed at the service's time; it is tried again until it is taken. */
  async #attempt(notice: Notice): Promise<Delivery> {
    const isTaken = await this.#call(notice);
    const attempts = notice.data.attempts + 1;
    const wait = Math.min(NOTICE_DELAY_MS * 2 ** attempts, MAX_WAIT_MS);
    return { id: notice.id, isTaken, waitMs: isTaken || attempts >= MAX_TRIES ? null : wait };
  }

  async #call(notice: Notice): Promise<boolean> {
    const body = bodyOf(notice);
    const at = await this.store.now();
    try {
      const answer = await request(this.setting.url, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', 'processor-signature': signatureOf(body, this.setting.secret, at) },
        signal: AbortSignal.any([AbortSignal.timeout(CALL_TIMEOUT_MS), this.#stopping.signal]),
      });
      await answer.body.dump({ limit: 65_536 });
      return answer.statusCode < 300;
    } catch {
      return false; // payments is not there at the moment
    }
  }
}
