import { Migration } from '@mikro-orm/migrations';

/** A laboratory sends the final or corrected result under the reference of the one that it replaces; one of them stands. */
export class Migration202611221735 extends Migration {
  override up(): void {
    this.addSql('drop index clinical.observation_source_ref');
    this.addSql(`create unique index observation_source_ref on clinical.observation (source, source_ref)
      where source_ref is not null and superseded_by is null`);
  }
}
