import type { DisputeReason, DisputeStatus } from '../../entities/enums-operations.js';
import type { BalanceTransactionKind, ProcessorObject, ProcessorPayout } from '../processor.js';

export interface MethodData {
  token: string;
  customerId: string;
  isDetached: boolean;
  /** Charges that were tried with it, for methods that decline the first ones. */
  charges: number;
}

export interface ChargeData {
  customerId: string;
  methodId: string;
  token: string;
  amount: number;
  currency: string;
  status: 'succeeded' | 'authorized' | 'requires_action' | 'processing' | 'declined' | 'cancelled';
  capture: 'automatic' | 'manual';
  captured: number;
  refunded: number;
  fee: number | null;
  code: string | null;
  actionUrl: string | null;
  /** ISO 8601. */
  capturedAt: string | null;
  /** Makes no calls: its truth is found by looking. */
  isSilent: boolean;
}

export interface RefundData {
  chargeId: string;
  amount: number;
  currency: string;
  status: 'succeeded' | 'processing' | 'declined';
  code: string | null;
}

export interface DisputeData {
  chargeId: string;
  amount: number;
  currency: string;
  fee: number;
  status: DisputeStatus;
  reason: DisputeReason;
  evidenceDueAt: string;
  fundsWithdrawn: boolean;
}

export interface PayoutData {
  destination: string;
  amount: number;
  currency: string;
  status: ProcessorPayout['status'];
  code: string | null;
}

export interface BalanceData {
  kind: BalanceTransactionKind;
  sourceId: string;
  chargeId: string | null;
  amount: number;
  currency: string;
  fee: number;
}

/** A call of our inbound webhook. */
export interface NoticeData {
  type: string;
  object: { kind: ProcessorObject; id: string };
  chargeId: string | null;
  /** Of the calls about that charge or payout, from 0. */
  number: number;
  isHeld: boolean;
  isDelivered: boolean;
  attempts: number;
}

/** Data of the sandbox's objects, by kind. Nothing in it names a person, and no card has digits. */
export interface Objects {
  customer: Record<string, never>;
  method: MethodData;
  charge: ChargeData;
  refund: RefundData;
  dispute: DisputeData;
  payout: PayoutData;
  balance: BalanceData;
  notice: NoticeData;
  /** Calls about a charge (or, with id `hold_all`, all calls) wait. */
  hold: Record<string, never>;
}

export type Kind = keyof Objects;

export interface SandboxObject<K extends Kind = Kind> {
  readonly id: string;
  readonly kind: K;
  readonly key: string | null;
  readonly parentId: string | null;
  readonly data: Objects[K];
  /** When it changes by itself or is delivered; wall clock. */
  dueAt: Date | null;
  readonly createdAt: Date;
}
