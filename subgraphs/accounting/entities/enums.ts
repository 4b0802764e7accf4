import { registerEnums } from '../../../runtime/schema/enums.js';

export enum LedgerAccountType {
  ASSET = 'asset',
  LIABILITY = 'liability',
  EQUITY = 'equity',
  INCOME = 'income',
  EXPENSE = 'expense',
}

export enum EntryDirection {
  DEBIT = 'debit',
  CREDIT = 'credit',
}

export enum LedgerAccountStatus {
  OPEN = 'open',
  FROZEN = 'frozen',
  CLOSED = 'closed',
}

export enum WalletKind {
  CASH = 'cash',
  EARNINGS = 'earnings',
  CREDIT = 'credit',
}

export enum LedgerTransactionStatus {
  PENDING = 'pending',
  POSTED = 'posted',
  VOIDED = 'voided',
  EXPIRED = 'expired',
}

export enum LedgerTransactionKind {
  DIRECT = 'direct',
  PENDING = 'pending',
  POST_PENDING = 'post_pending',
  VOID_PENDING = 'void_pending',
  REVERSAL = 'reversal',
}

export enum AccountingPeriodStatus {
  OPEN = 'open',
  CLOSED = 'closed',
}

export enum LedgerPostOutcome {
  CREATED = 'created',
  EXISTS = 'exists',
  REJECTED = 'rejected',
}

export enum LedgerPendingAction {
  POST = 'post',
  VOID = 'void',
}

export enum LedgerProofSide {
  LEFT = 'left',
  RIGHT = 'right',
}

registerEnums(
  {
    LedgerAccountType,
    EntryDirection,
    LedgerAccountStatus,
    WalletKind,
    LedgerTransactionStatus,
    LedgerTransactionKind,
    AccountingPeriodStatus,
    LedgerPostOutcome,
    LedgerPendingAction,
    LedgerProofSide,
  },
  {
    LedgerAccountStatus: 'FROZEN takes reversals only; CLOSED is final.',
    WalletKind: 'EARNINGS may go below zero, by a claw-back.',
    LedgerTransactionKind: 'What a transaction does; POST_PENDING and VOID_PENDING name the one that they resolve.',
    LedgerPostOutcome: 'EXISTS: the same source was posted before.',
    LedgerProofSide: 'On which side the hash of the other subtree stands.',
  },
);
