import { Migration } from '@mikro-orm/migrations';

/** The browser that somebody signed in with: SHA-256 of a cookie that it keeps, so that a new one is told of. */
const KNOWN_DEVICES = [
  `alter table identity.auth_session add column device_hash bytea`,
  `create index auth_session_user_id_device_hash on identity.auth_session (user_id, device_hash)`,
];

export class KnownDevices extends Migration {
  override up(): void {
    for (const statement of KNOWN_DEVICES) this.addSql(statement);
  }
}
