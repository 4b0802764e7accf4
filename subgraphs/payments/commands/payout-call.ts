import { findRow, lockRow, requireRow } from '../../../runtime/data/rows.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { after } from '../../../runtime/time/durations.js';
import { PayoutStatus as Status } from '../entities/enums-operations.js';
import { Payout, PayoutDestination } from '../entities/payout.js';
import { opened } from '../entities/sealed.js';
import { holdPayout, resolvePayout, reversePayout } from '../ports/accounting.js';
import type { ProcessorPayout, ProcessorResult } from '../ports/processor.js';
import { processorOf } from '../ports/processors.js';
import { HELD_MS, ledgerStep } from '../rules/payout.js';
import { planLook, settlePayout, takePayoutStep } from './payout-outcome.js';

type Result = ProcessorResult<ProcessorPayout>;

/** The ledger's longest is counted from its own clock; ours may be a little ahead. */
const SKEW_MS = 60_000;
const INSUFFICIENT = 'insufficient_funds';

/** Reserves the payout's money in the books. @returns the pending transaction, null where the wallet has less. @throws Problem unavailable. */
export function hold({ host }: Context, payout: Payout): Promise<string | null> {
  const { id: payoutId, userId, amountMinor: amount, currency, processor, createdAt } = payout;
  const expiresAt = after(createdAt, HELD_MS - SKEW_MS);
  return holdPayout(host, { payoutId, userId: userId!, amount, currency, processor, expiresAt });
}

/** Has the processor pay; its id is the key, so that a repeat pays once. A destination that is gone is a refusal. */
export async function send(ctx: Context, payout: Payout): Promise<Result> {
  const processor = processorOf(ctx.host);
  const destination = await findRow(ctx, PayoutDestination, { id: payout.destinationId ?? '' });
  const token = destination && opened<string>(ctx, destination.tokenSealed, 'payout_destination', destination.id);
  if (token === null) return { status: 'declined', decline: GONE, data: null };
  const { amountMinor: amount, currency, reference } = payout;
  const call = { idempotencyKey: payout.id, clock: ctx.clock };
  return processor.createPayout({ destination: token, reference: reference!, amount, currency }, call);
}
const GONE = { code: 'no_payout_destination', category: 'hard' as never };

const UNDER_WAY: readonly Status[] = [Status.PENDING, Status.IN_TRANSIT];
const UNSENT: readonly Status[] = [Status.REQUIRES_APPROVAL, Status.PENDING];

type Step = (ctx: Context, payout: Payout) => void;

/** The money is reserved first; then a payout that nobody has to approve is sent. */
async function begin(ctx: Context, payout: Payout): Promise<Step> {
  const held = await hold(ctx, payout);
  if (held === null) return refused;
  const sent = payout.status === Status.PENDING ? await send(ctx, payout) : null;
  return (now, row) => {
    row.ledgerTransactionId = held;
    if (sent) settlePayout(now, row, sent);
  };
}

/** The next step of a payout towards its end. Each is harmless to repeat: the processor has its id as key, the books as source. */
async function step(ctx: Context, payout: Payout): Promise<Step | null> {
  if (payout.ledgerTransactionId === null && UNSENT.includes(payout.status)) return begin(ctx, payout);
  if (!UNDER_WAY.includes(payout.status)) return null;
  const { processorRef: id } = payout;
  const call = { idempotencyKey: `look:${payout.id}`, clock: ctx.clock };
  const result = id === null ? await send(ctx, payout) : await processorOf(ctx.host).retrievePayout({ id }, call);
  return (now, row) => void settlePayout(now, row, result);
}

/** The wallet has less by now: nothing was reserved, and nothing will be paid. */
function refused(ctx: Context, payout: Payout): void {
  if (payout.status === Status.REQUIRES_APPROVAL) takePayoutStep(ctx, payout, 'cancel');
  else takePayoutStep(ctx, payout, 'fail', INSUFFICIENT);
  Object.assign(payout, { failureCode: INSUFFICIENT, ledgerSettled: true });
}

/**
 * What the books have to do once a payout has ended. Where its row has no reservation, the books are asked for it by the payout's id; they
 * make one where there is none. @throws Error for a payout that was paid and that the wallet does not cover: nothing was reserved.
 */
async function settleBooks(ctx: Context, payout: Payout): Promise<Partial<Payout>> {
  const what = ledgerStep(payout.status, payout.ledgerPosted);
  if (what === null) return {};
  const pending = payout.ledgerTransactionId ?? (await hold(ctx, payout));
  if (pending === null && what === 'post') throw new Error('a payout was paid that was not reserved');
  if (pending === null) return { ledgerPosted: false };
  if (what === 'reverse') await reversePayout(ctx.host, pending);
  else await resolvePayout(ctx.host, pending, what === 'post' ? 'POST' : 'VOID');
  return { ledgerTransactionId: pending, ledgerPosted: what === 'post' };
}

const isOver = ({ approveBefore, status }: Payout, now: Date): boolean =>
  status === Status.REQUIRES_APPROVAL && approveBefore !== null && approveBefore <= now;

/** Looks after a payout until money and books agree. Outside a transaction; what fails is tried again later. */
export async function lookAfterPayout(host: ServiceHost, id: string): Promise<void> {
  try {
    const next = await host.read(async ctx => step(ctx, await requireRow(ctx, Payout, { id })));
    const ended = await host.transaction(ctx => stepped(ctx, id, next));
    if (!ended) return;
    const books = await host.read(async ctx => settleBooks(ctx, await requireRow(ctx, Payout, { id })));
    await host.transaction(ctx => booked(ctx, id, books));
  } catch (error) {
    host.log.warn({ err: loggedError(error), payout: id }, 'a payout could not be looked after; it is tried again');
  }
}

/** @returns whether the books are to follow. */
async function stepped(ctx: Context, id: string, next: Step | null): Promise<boolean> {
  const payout = await lockRow(ctx, Payout, { id });
  next?.(ctx, payout);
  if (isOver(payout, ctx.now())) takePayoutStep(ctx, payout, 'cancel');
  if (payout.status === Status.REQUIRES_APPROVAL) payout.nextLookAt = payout.approveBefore;
  else if (UNDER_WAY.includes(payout.status) || !payout.ledgerSettled) planLook(ctx, payout);
  else payout.nextLookAt = null;
  return !UNDER_WAY.includes(payout.status) && payout.status !== Status.REQUIRES_APPROVAL && !payout.ledgerSettled;
}

async function booked(ctx: Context, id: string, books: Partial<Payout>): Promise<void> {
  const payout = await lockRow(ctx, Payout, { id });
  const isStillSo = ledgerStep(payout.status, books.ledgerPosted ?? payout.ledgerPosted) === null || books.ledgerPosted === false;
  Object.assign(payout, books, isStillSo && { ledgerSettled: true, nextLookAt: null });
  ctx.audit('payout.booked', id, { status: payout.status });
}
