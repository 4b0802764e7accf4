import { accept, refuse, tell } from './charges.js';
import { decide, openOrEscalate } from './disputes.js';
import { holdOf, HOLD_ALL } from './notices.js';
import type { SandboxObject } from './objects.js';
import { failPayout } from './payouts.js';
import { externalRefund, settleRefund } from './refunds.js';
import type { SandboxTransaction } from './store.js';

/** What a tester does in the place of customer, bank and processor. Source: payments 8. */
export interface Action {
  readonly action: string;
  /** The processor's id of a charge, or of a payout; null: the last one. */
  readonly id: string | null;
  readonly amount: number | null;
}

type Charge = SandboxObject<'charge'>;
type OnCharge = (tx: SandboxTransaction, charge: Charge, amount: number | null) => Promise<boolean>;

async function authenticated(tx: SandboxTransaction, charge: Charge, isDone: boolean): Promise<boolean> {
  if (charge.data.status !== 'requires_action') return false;
  await (isDone ? accept(tx, charge) : refuse(tx, charge, 'payment_intent_authentication_failure'));
  await tell(tx, charge);
  return true;
}

const ON_CHARGES: Readonly<Record<string, OnCharge>> = {
  complete_3ds: (tx, charge) => authenticated(tx, charge, true),
  fail_3ds: (tx, charge) => authenticated(tx, charge, false),
  open_dispute: (tx, charge, amount) => (charge.data.captured > 0 ? openOrEscalate(tx, charge, amount) : Promise.resolve(false)),
  win_dispute: (tx, charge) => decide(tx, charge, true),
  lose_dispute: (tx, charge) => decide(tx, charge, false),
  settle_refund: settleRefund,
  external_refund: externalRefund,
};

const found = <K extends 'charge' | 'payout'>(tx: SandboxTransaction, kind: K, id: string | null): Promise<SandboxObject<K> | null> =>
  id === null ? tx.last(kind) : tx.lock(kind, { id });

async function hold(tx: SandboxTransaction, id: string | null): Promise<boolean> {
  const name = id === null ? HOLD_ALL : holdOf(id);
  if (!(await tx.lock('hold', { id: name }))) tx.insert('hold', name, {}, { parentId: 'hold' });
  return true;
}

/** Lets calls go that were held: those of one charge or payout, or all. */
async function release(tx: SandboxTransaction, id: string | null): Promise<boolean> {
  const holds = id === null ? (await tx.below('hold', 'hold')).map(one => one.id) : [holdOf(id)];
  await tx.remove('hold', holds);
  for (const notice of await tx.held(id)) {
    Object.assign(notice, { dueAt: new Date() });
    notice.data.isHeld = false;
    tx.save(notice);
  }
  return true;
}

/** Acts on an object. @returns false where its state does not allow it, or there is none. */
export async function act(tx: SandboxTransaction, { action, id, amount }: Action): Promise<boolean> {
  if (action === 'hold_webhooks') return hold(tx, id);
  if (action === 'release_webhooks') return release(tx, id);
  if (action === 'payout_fail') {
    const payout = await found(tx, 'payout', id);
    return payout !== null && failPayout(tx, payout);
  }
  const charge = await found(tx, 'charge', id);
  return charge !== null && (ON_CHARGES[action]?.(tx, charge, amount) ?? false);
}
