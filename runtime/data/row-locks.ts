import { PostgreSqlNativeQueryBuilder } from '@mikro-orm/postgresql';

/**
 * Says `for no key update` where the ORM says `for update`. Both keep everybody else from changing or locking the row, but the former lets
 * others point to it: a foreign key asks for its row `for key share`, at the commit where it is deferred, so one who holds what the holder
 * of the row waits for would wait in turn for the row, and both for ever. Source: PostgreSQL, 13.3.2.
 */
export class LockingQueryBuilder extends PostgreSqlNativeQueryBuilder {
  protected override addLockClause(): void {
    const first = this.parts.length;
    super.addLockClause();
    if (this.parts[first] === 'for update') this.parts[first] = 'for no key update';
  }
}
