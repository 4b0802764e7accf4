import type { Account } from 'oidc-provider';
import { avatarUrl } from '../../rules/avatar.js';
import type { EngineStore } from './model.js';

/** What an id_token may say; each claim only when its scope was granted. Source: identity A7. */
export const ID_TOKEN_CLAIMS = [
  'sub',
  'auth_time',
  'amr',
  'name',
  'picture',
  'locale',
  'zoneinfo',
  'updated_at',
  'preferred_username',
  'email',
  'email_verified',
] as const;

interface Row {
  id: string;
  updated: number;
  name: string | null;
  picture: string | null;
  handle: string | null;
  locale: string | null;
  zone: string | null;
  email: string | null;
  verified: boolean;
  staff: boolean;
}

/** An account, and whether it is of active staff. */
export type PlatformAccount = Account & { staff: boolean };

const ACTIVE = `
select u.id, floor(extract(epoch from u.updated_at))::float8 as updated, p.display_name as name, p.avatar_key as picture, p.handle, s.locale,
  s.time_zone as zone, e.email, e.verified_at is not null as verified,
  exists (select from identity.staff_member m where m.user_id = u.id and m.status = 'active') as staff
from identity."user" u left join identity.user_profile p on p.user_id = u.id left join identity.user_settings s on s.user_id = u.id
left join identity.user_email e on e.user_id = u.id where u.id = $1::uuid and u.status = 'active'`;

function profileClaims({ name, picture, locale, zone, updated, handle }: Row): object {
  return { name, picture, locale, zoneinfo: zone, updated_at: updated, preferred_username: handle };
}

function claimsOf(row: Row, scope: string): { sub: string } {
  const scopes = scope.split(' ');
  const contact = scopes.includes('read:account') && row.email ? { email: row.email, email_verified: row.verified } : {};
  const claims = { ...(scopes.includes('read:profile') && profileClaims(row)), ...contact };
  return { sub: row.id, ...Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== null)) };
}

/** The account behind a sign-in, code or refresh token; undefined unless it is ACTIVE, and then nothing is issued. Source: identity 7, rule 7. */
export async function accountOf(store: EngineStore, id: string): Promise<PlatformAccount | undefined> {
  const [row] = await store.sql<Row>(ACTIVE, [id]);
  if (row?.picture) row.picture = avatarUrl(store.host.config.issuer, row.picture);
  return row && { accountId: row.id, staff: row.staff, claims: async (_use, scope) => claimsOf(row, scope) };
}
