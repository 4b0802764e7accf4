import { createHash } from 'node:crypto';
import { canonicalize } from 'json-canonicalize';
import type { EntryDirection, LedgerTransactionKind } from '../entities/enums.js';

/** What the content hash of a transaction is made of. Source: accounting 7.6. */
export interface HashedTransaction {
  id: string;
  kind: LedgerTransactionKind;
  source: { service: string; type: string; id: string; ruleVersion: number | null };
  /** In line order. */
  entries: readonly { accountCode: string; direction: EntryDirection; amount: number; currency: string }[];
  effectiveAt: Date;
  pendingId: string | null;
  reverses: string | null;
  metadata: unknown;
}

/** RFC 8785 form of a transaction: what its receipt shows, and what its hash is of. */
export function canonicalOf({ id, kind, source, entries, effectiveAt, pendingId, reverses, metadata }: HashedTransaction): string {
  return canonicalize({
    id,
    kind,
    source: { service: source.service, type: source.type, id: source.id, rule_version: source.ruleVersion },
    entries: entries.map(({ accountCode, direction, amount, currency }, at) => ({
      line: at + 1,
      account: accountCode,
      direction,
      amount,
      currency,
    })),
    effective_at: effectiveAt.toISOString(),
    pending_id: pendingId,
    reverses,
    metadata,
  });
}

export const sha256 = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

export const contentHash = (transaction: HashedTransaction): Buffer => sha256(canonicalOf(transaction));
