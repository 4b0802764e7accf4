import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { loggedError, type Logger } from '../../../../runtime/observe/log.js';
import { mature } from './charges.js';
import { show } from './disputes.js';
import { bodyOf, inMs, NOTICE_DELAY_MS } from './notices.js';
import type { SandboxObject } from './objects.js';
import { maturePayout } from './payouts.js';
import type { SandboxStore } from './store.js';

/** Between looks while something may come, and while nothing is known of, ms. */
const BUSY_MS = 20;
const IDLE_MS = 5_000;
/** Looks at the busy pace after the last thing that happened. */
const BUSY_LOOKS = 75;
const BATCH = 16;
const CLAIM_MS = 10_000;
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

/** Calls payments' webhook, and lets happen what happens by itself. */
export class Courier {
  readonly #stopping = new AbortController();
  #woken = new AbortController();
  #looks = BUSY_LOOKS;
  #running: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: SandboxStore,
    private readonly setting: CourierSetting,
  ) {}

  start(): void {
    this.#running = this.#loop();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#woken.abort();
    await this.#running;
  }

  /** Something was planned. */
  wake(): void {
    this.#looks = BUSY_LOOKS;
    this.#woken.abort();
  }

  async #loop(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const done = await this.#look().catch(error => {
        this.setting.log.warn({ err: loggedError(error) }, 'the sandbox could not look at what is due; it is tried again');
        return 0;
      });
      this.#looks = done > 0 ? BUSY_LOOKS : Math.max(0, this.#looks - 1);
      await this.#pause(this.#looks > 0 ? BUSY_MS : IDLE_MS);
    }
  }

  async #pause(ms: number): Promise<void> {
    this.#woken = new AbortController();
    if (this.#stopping.signal.aborted) return;
    await sleep(ms, undefined, { signal: this.#woken.signal }).catch(() => undefined);
  }

  async #look(): Promise<number> {
    if (!(await this.store.isDue())) return 0;
    const changed = await this.store.transaction(async tx => {
      const until = inMs(CLAIM_MS);
      const [charges, disputes] = [await tx.claim('charge', until, BATCH), await tx.claim('dispute', until, BATCH)];
      const payouts = await tx.claim('payout', until, BATCH);
      for (const charge of charges) await mature(tx, charge);
      for (const dispute of disputes) await show(tx, dispute);
      for (const payout of payouts) await maturePayout(tx, payout);
      return charges.length + disputes.length + payouts.length;
    });
    const notices = await this.store.transaction(tx => tx.claim('notice', inMs(CLAIM_MS), BATCH));
    await Promise.all(notices.map(notice => this.deliver(notice)));
    return changed + notices.length;
  }

  /** One call, signed at the service's time; it is tried again until it is taken. */
  async deliver(notice: Notice): Promise<void> {
    const isTaken = await this.#call(notice);
    await this.store.transaction(async tx => {
      const current = await tx.lock('notice', { id: notice.id });
      if (!current) return;
      current.data.attempts++;
      current.data.isDelivered ||= isTaken;
      const wait = Math.min(NOTICE_DELAY_MS * 2 ** current.data.attempts, MAX_WAIT_MS);
      current.dueAt = isTaken || current.data.attempts >= MAX_TRIES ? null : inMs(wait);
      await tx.save(current);
    });
  }

  async #call(notice: Notice): Promise<boolean> {
    const body = bodyOf(notice);
    const at = await this.store.transaction(async tx => tx.now);
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
