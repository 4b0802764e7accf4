import type { Context } from '../../../runtime/request/context.js';
import { CrmSyncReason } from '../entities/crm-sync.js';

const COLUMNS: Readonly<Record<CrmSyncReason, string>> = {
  [CrmSyncReason.CREATED]: 'created_at',
  [CrmSyncReason.PROFILE]: 'profile_at',
  [CrmSyncReason.CONTACT]: 'contact_at',
  [CrmSyncReason.CONSENT]: 'consent_at',
  [CrmSyncReason.STATUS]: 'status_at',
  [CrmSyncReason.ERASED]: 'erased_at',
};

/** Notes that a CRM has to look at a user again. Needs a transaction, in which the user's row is there. Source: identity 4.10. */
export async function noteCrmChange(ctx: Context, userId: string, reason: CrmSyncReason): Promise<void> {
  const column = COLUMNS[reason];
  await ctx.sql(
    `insert into identity.crm_change (user_id, changed_at, ${column}) values ($1, $2, $2)
     on conflict (user_id) do update set changed_at = excluded.changed_at, ${column} = excluded.${column}`,
    [userId, ctx.now().toISOString()],
  );
}
