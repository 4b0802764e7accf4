import type { BalanceTransactionKind } from '../processor.js';
import { idOf, type SandboxTransaction } from './store.js';

const FEE_PER_MILLE = 29n;
const FEE_FIXED = 30n;
/** Of a chargeback, minor units. */
export const DISPUTE_FEE = 1_500;

/** 2.9 % + 30, half to even, never more than the charge. Source: payments 8. */
export function feeOf(amount: number): number {
  const product = BigInt(amount) * FEE_PER_MILLE;
  const [whole, rest] = [product / 1000n, product % 1000n];
  const isUp = rest > 500n || (rest === 500n && whole % 2n === 1n);
  const fee = Number(whole + (isUp ? 1n : 0n) + FEE_FIXED);
  return Math.min(fee, amount);
}

interface Movement {
  kind: BalanceTransactionKind;
  sourceId: string;
  chargeId: string | null;
  /** Signed. */
  amount: number;
  currency: string;
  fee?: number;
}

/** Writes a movement of the balance; the same source moves it once in each way. */
export async function book(tx: SandboxTransaction, { fee = 0, ...movement }: Movement): Promise<void> {
  tx.insert('balance', idOf('txn', `${movement.kind}:${movement.sourceId}`), { ...movement, fee }, { parentId: movement.sourceId });
}
