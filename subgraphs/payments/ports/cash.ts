import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';

const RESERVATION = 'id status amount { amount } expiresAt';
const RESERVE = stored(`mutation PaymentsReserveCash($input: ReserveCashInput!) { reserveCash(input: $input) { ${RESERVATION} } }`);
const EXTEND = stored(`mutation PaymentsExtendCash($id: ID!) { extendCashReservation(id: $id) { ${RESERVATION} } }`);
const COMMIT = stored(`mutation PaymentsCommitCash($input: CommitCashInput!) { commitCash(input: $input) { ${RESERVATION} } }`);
const RELEASE = stored(`mutation PaymentsReleaseCash($id: ID!) { releaseCash(id: $id) { ${RESERVATION} } }`);
const GRANT = stored('mutation PaymentsGrantCash($input: GrantCashInput!) { grantCash(input: $input) { id } }');

type Asker = Pick<ServiceHost, 'federation'>;

interface Answered {
  id: string;
  status: string;
  amount: { amount: number };
  expiresAt: string;
}

/** Cash that is held; minor units. */
export interface CashHold {
  id: string;
  amount: number;
  expiresAt: Date;
}

/** What cash is held for. */
export interface CashWanted {
  userId: string;
  currency: string;
  /** The most that is wanted, minor units. */
  max: number;
  /** All of it or nothing. */
  exact?: boolean;
  /** Of the purchase, before tax and shipping. */
  subtotal: number;
  subjectKinds: readonly string[];
  /** The obligation: `checkout`, `order` or `invoice` with its id. */
  reference: { type: string; id: string };
}

const holdFrom = ({ id, amount, expiresAt }: Answered): CashHold => ({ id, amount: amount.amount, expiresAt: new Date(expiresAt) });
/** Cash refuses what its state does not allow; anything else is tried again. */
const isRefusal = (error: unknown): boolean => error instanceof Problem && (error.code === 'conflict' || error.code === 'not_found');

/** Holds what a purchase may take, perhaps less than wanted; null: nothing. @throws Problem unavailable. Source: cash 4. */
export async function reserveCash({ federation }: Asker, wanted: CashWanted, idempotencyKey: string): Promise<CashHold | null> {
  const { userId, currency, max, exact = false, subtotal, subjectKinds, reference } = wanted;
  const maxAmount = { amount: max, currency };
  const purchase = { subtotal: { amount: subtotal, currency }, subjectKinds: subjectKinds.map(kind => kind.toUpperCase()) };
  const input = { userId, maxAmount, exact, purchase, reference };
  try {
    const { reserveCash: answer } = await federation.run<{ reserveCash: Answered }>(RESERVE, { input }, { idempotencyKey });
    return answer.amount.amount > 0 ? holdFrom(answer) : null;
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

/** Holds it for another 30 minutes; null where it is held no more. @throws Problem unavailable. */
export async function extendCash({ federation }: Asker, id: string): Promise<CashHold | null> {
  try {
    return holdFrom((await federation.run<{ extendCashReservation: Answered }>(EXTEND, { id })).extendCashReservation);
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

/** Spends what is held; again, the same. False: it is held no more. @throws Problem unavailable. */
export async function commitCash({ federation }: Asker, id: string): Promise<boolean> {
  try {
    await federation.run(COMMIT, { input: { id } });
    return true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

/** Gives back what is held; what is not held any more stays as it is. @throws Problem unavailable. */
export async function releaseCash({ federation }: Asker, id: string): Promise<void> {
  await federation.run(RELEASE, { id }).catch(error => (isRefusal(error) ? undefined : Promise.reject(error as Error)));
}

/** Gives a refund as cash; the refund is the reference, so it is given once. @throws Problem unavailable. Source: payments 4.3. */
export async function grantRefund(
  { federation }: Asker,
  { id, userId, amount, currency }: { id: string; userId: string; amount: number; currency: string },
): Promise<void> {
  const input = { userId, source: 'REFUND', amount: { amount, currency }, reference: { type: 'refund', id } };
  await federation.run(GRANT, { input }, { idempotencyKey: `refund:${id}` });
}
