import { Migration } from '@mikro-orm/migrations';
import { leaseIdempotencyKeys } from '../../runtime/data/house-tables.js';

/** Intent and lease of operations in two phases. */
export class TwoPhaseKeys extends Migration {
  override up(): void {
    for (const statement of leaseIdempotencyKeys('jobs')) this.addSql(statement);
  }
}
