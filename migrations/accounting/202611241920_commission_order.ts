import { Migration } from '@mikro-orm/migrations';

const METADATA = {
  'affiliate.commission.posted.v1': ['commission_id', 'accrual_id', 'affiliate_id', 'event_seq'],
  'affiliate.commission.reversed.v1': ['commission_id', 'reversal_id', 'affiliate_id', 'reason', 'event_seq'],
} as const;

/**
 * Second version of both rules: the number of the event in the log says whether a claw-back belongs before the posting of its commission or
 * after it, however they are delivered. Source: accounting 5, 7.11.
 */
export class CommissionOrder extends Migration {
  override up(): void {
    for (const [at, [type, metadata]] of Object.entries(METADATA).entries())
      this.addSql(`insert into accounting.posting_rule (id, event_type, version, definition, created_at)
        select '0190b3a0-0000-7000-8000-0000acc0002${at}', event_type, 2, jsonb_set(definition, '{metadata}', '${JSON.stringify(metadata)}'), '2026-11-24'
        from accounting.posting_rule where event_type = '${type}' and version = 1`);
  }
}
