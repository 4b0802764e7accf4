import { AUTHENTICATION_REQUIRED, CHARGE_CANCELLED } from '../../rules/decline.js';
import type { ChargeInput, ProcessorCharge, ProcessorMoney, ProcessorResult } from '../processor.js';
import { openDispute } from './disputes.js';
import { METHODS, type Behaviour } from './methods.js';
import { book, feeOf } from './money.js';
import { CHANGE_DELAY_MS, inMs, notify } from './notices.js';
import type { ChargeData, SandboxObject } from './objects.js';
import { declinedWith, nothingThere } from './outcomes.js';
import { idOf, type SandboxTransaction } from './store.js';

type Charge = SandboxObject<'charge'>;
type Result = ProcessorResult<ProcessorCharge>;

/** How long a customer may take to authenticate, ms. */
const ACTION_MS = 3_600_000;

const shown = ({ id, key, data, createdAt }: Charge): ProcessorCharge => ({
  id,
  key,
  amount: data.amount,
  currency: data.currency,
  amountCaptured: data.captured,
  amountRefunded: data.refunded,
  fee: data.fee,
  capturedAt: data.capturedAt === null ? null : new Date(data.capturedAt),
  createdAt,
});

/** What came of a charge so far. */
export function outcomeOf(charge: Charge): Result {
  const [data, { status, code, actionUrl }] = [shown(charge), charge.data];
  if (status === 'declined' || status === 'cancelled') return declinedWith(code ?? CHARGE_CANCELLED, data);
  if (status !== 'requires_action') return { status, data };
  const expiresAt = new Date(charge.createdAt.getTime() + ACTION_MS);
  return { status, data, nextAction: actionUrl === null ? null : { type: 'redirect_to_url', url: actionUrl, expiresAt } };
}

/** Money arrives: the charge is captured in full or in part. */
export async function captured(tx: SandboxTransaction, charge: Charge, amount: number): Promise<void> {
  const fee = feeOf(amount);
  Object.assign(charge.data, { status: 'succeeded', captured: amount, fee, code: null, actionUrl: null, capturedAt: tx.now.toISOString() });
  tx.save(charge);
  await book(tx, { kind: 'charge', sourceId: charge.id, chargeId: charge.id, amount, currency: charge.data.currency, fee });
}

/** The issuer agrees: captured, or held for a later capture. */
export async function accept(tx: SandboxTransaction, charge: Charge): Promise<void> {
  charge.dueAt = null;
  if (charge.data.capture === 'automatic') return captured(tx, charge, charge.data.amount);
  Object.assign(charge.data, { status: 'authorized', actionUrl: null });
  tx.save(charge);
}

export async function refuse(tx: SandboxTransaction, charge: Charge, code: string): Promise<void> {
  charge.dueAt = null;
  Object.assign(charge.data, { status: 'declined', code, actionUrl: null });
  tx.save(charge);
}

/** Tells payments about the charge, unless its method keeps silent. */
export async function tell(tx: SandboxTransaction, { id, data }: Charge): Promise<void> {
  if (!data.isSilent) await notify(tx, `charge.${data.status}`, 'charge', id, id);
}

async function authenticate(tx: SandboxTransaction, charge: Charge, input: ChargeInput): Promise<void> {
  if (input.offSession) return refuse(tx, charge, AUTHENTICATION_REQUIRED);
  Object.assign(charge.data, { status: 'requires_action', actionUrl: input.authenticationUrl ?? input.returnUrl });
  tx.save(charge);
}

async function wait(tx: SandboxTransaction, charge: Charge): Promise<void> {
  charge.dueAt = inMs(CHANGE_DELAY_MS);
  tx.save(charge);
}

/** Does what the method's token says. @param number of this charge among those of the method, 1 for the first. */
async function settle(tx: SandboxTransaction, charge: Charge, behaviour: Behaviour, number: number, input: ChargeInput): Promise<void> {
  const code = behaviour.code ?? 'generic_decline';
  switch (behaviour.charge) {
    case 'succeeds':
    case 'silent_succeeds':
      return accept(tx, charge);
    case 'silent_fails':
      return refuse(tx, charge, code);
    case 'declines':
      return behaviour.times !== undefined && number > behaviour.times ? accept(tx, charge) : refuse(tx, charge, code);
    case 'authenticates':
      return authenticate(tx, charge, input);
    case 'async_succeeds':
    case 'async_fails':
      return wait(tx, charge);
  }
}

const isUsable = ({ data }: SandboxObject<'method'>, { customerId }: ChargeInput): boolean =>
  data.customerId === customerId && !data.isDetached;

const draft = (input: ChargeInput, token: string, behaviour: Behaviour): ChargeData => ({
  customerId: input.customerId,
  methodId: input.methodId,
  token,
  amount: input.amount,
  currency: input.currency,
  status: 'processing',
  capture: input.capture,
  captured: 0,
  refunded: 0,
  fee: null,
  code: null,
  actionUrl: null,
  capturedAt: null,
  isSilent: behaviour.charge.startsWith('silent'),
});

/** Whether the call of this charge gets no answer. */
export const isSilent = (charge: Charge): boolean => charge.data.isSilent;

/** Charges a method; the same key finds the first charge, whatever became of it: whoever charges a method waits for it first. */
export async function charge(tx: SandboxTransaction, input: ChargeInput, key: string): Promise<{ result: Result; isFirstSilent: boolean }> {
  const method = await tx.lock('method', { id: input.methodId });
  const known = await tx.lock('charge', { key });
  if (known) return { result: outcomeOf(known), isFirstSilent: false };
  if (!method || !isUsable(method, input)) return { result: nothingThere(), isFirstSilent: false };
  const { behaviour } = METHODS[method.data.token]!;
  method.data.charges++;
  tx.save(method);
  const id = idOf('ch', key);
  const made = tx.insert('charge', id, draft(input, method.data.token, behaviour), { key, parentId: input.customerId });
  await settle(tx, made, behaviour, method.data.charges, input);
  await tell(tx, made);
  if (behaviour.dispute && made.data.captured > 0) await openDispute(tx, made, { ...behaviour.dispute, delayMs: CHANGE_DELAY_MS });
  return { result: outcomeOf(made), isFirstSilent: made.data.isSilent };
}

/** A charge that changes by itself a second later. */
export async function mature(tx: SandboxTransaction, charge: Charge): Promise<void> {
  const { charge: how, code = 'generic_decline' } = METHODS[charge.data.token]!.behaviour;
  await (how === 'async_succeeds' ? accept(tx, charge) : refuse(tx, charge, code));
  await tell(tx, charge);
}

export async function capture(tx: SandboxTransaction, { chargeId, amount }: { chargeId: string } & ProcessorMoney): Promise<Result> {
  const charge = await tx.lock('charge', { id: chargeId });
  if (!charge) return nothingThere();
  if (charge.data.status === 'succeeded' && charge.data.captured === amount) return outcomeOf(charge);
  if (charge.data.status !== 'authorized' || amount > charge.data.amount) return declinedWith('charge_not_capturable', shown(charge));
  await captured(tx, charge, amount);
  await tell(tx, charge);
  return outcomeOf(charge);
}

const CANCELLABLE = new Set<ChargeData['status']>(['authorized', 'requires_action', 'declined', 'cancelled']);

export async function cancel(tx: SandboxTransaction, { chargeId }: { chargeId: string }): Promise<Result> {
  const charge = await tx.lock('charge', { id: chargeId });
  if (!charge) return nothingThere();
  if (!CANCELLABLE.has(charge.data.status)) return declinedWith('charge_not_cancellable', shown(charge));
  if (charge.data.status !== 'cancelled') {
    Object.assign(charge.data, { status: 'cancelled', code: CHARGE_CANCELLED, actionUrl: null });
    tx.save(charge);
    await tell(tx, charge);
  }
  return { status: 'succeeded', data: shown(charge) };
}

export async function retrieveCharge(tx: SandboxTransaction, reference: { id: string } | { key: string }): Promise<Result> {
  const charge = await tx.look('charge', reference);
  return charge ? outcomeOf(charge) : nothingThere();
}
