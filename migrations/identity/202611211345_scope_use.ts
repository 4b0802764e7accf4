import { Migration } from '@mikro-orm/migrations';

/** When a consent first covered a scope and when the app last used it; the gateway reports uses every minute. */
const SCOPE_USE = [
  `create table identity.scope_use (
    grant_id uuid not null references identity.oauth_grant (id) on delete cascade, scope text not null, granted_at timestamptz(3) not null,
    last_used_at timestamptz(3), primary key (grant_id, scope))`,
  `insert into identity.scope_use (grant_id, scope, granted_at)
   select g.id, s.scope, g.granted_at from identity.oauth_grant g cross join lateral unnest(g.scopes) as s(scope) where g.status <> 'revoked'`,
];

export class ScopeUse extends Migration {
  override up(): void {
    for (const statement of SCOPE_USE) this.addSql(statement);
  }
}
