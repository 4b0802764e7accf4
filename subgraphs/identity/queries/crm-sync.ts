import type { FilterQuery } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import { type Connection, page } from '../../../runtime/request/paging.js';
import { after } from '../../../runtime/time/durations.js';
import { CrmChange, type CrmSyncCandidate } from '../entities/crm-sync.js';
import type { UserStatus } from '../entities/user.js';
import type { CrmSyncArgs } from '../inputs/user.js';
import { candidateOf, type CrmFacts, ERASED_SHOWN_MS } from '../rules/crm-sync.js';

interface Row {
  id: string;
  status: UserStatus;
  email: string | null;
  display_name: string | null;
  phone: string | null;
  locale: string | null;
  time_zone: string | null;
  country_code: string | null;
  marketing_consent: boolean | null;
}

const FACTS = `
select u.id, u.status, e.email, p.display_name, u.phone, s.locale, s.time_zone, a.country_code, s.marketing_consent
from identity."user" u left join identity.user_email e on e.user_id = u.id left join identity.user_profile p on p.user_id = u.id
left join identity.user_settings s on s.user_id = u.id left join identity.user_address a on a.user_id = u.id and a.is_default_shipping
where u.id = any($1)`;

function asFacts({ status, email, display_name, phone, locale, time_zone, country_code, marketing_consent }: Row): CrmFacts {
  const contact = { email, displayName: display_name, phone, locale, timeZone: time_zone, countryCode: country_code };
  return { status, contact, marketingConsent: marketing_consent ?? false };
}

/** Users who have changed, one row each, the longest ago first; erased ones for 90 days. */
export async function crmCandidates(ctx: Context, args: CrmSyncArgs): Promise<Connection<CrmSyncCandidate>> {
  const since = args.since ?? null;
  const shown = { $or: [{ erasedAt: null }, { erasedAt: { $gt: after(ctx.now(), -ERASED_SHOWN_MS) } }] };
  const where = { $and: [shown, ...(since ? [{ changedAt: { $gt: since } }] : [])] } as FilterQuery<CrmChange>;
  const { nodes, pageInfo } = await page(ctx.em, CrmChange, where, args, { time: 'changedAt', direction: 'asc' });
  const rows = await ctx.sql<Row>(FACTS, [nodes.map(one => one.id)]);
  const facts = new Map(rows.map(row => [row.id, asFacts(row)]));
  return { nodes: nodes.map(one => candidateOf(one, facts.get(one.id)!, since)), pageInfo };
}
