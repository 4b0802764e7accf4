import { Migration } from '@mikro-orm/migrations';

/** The last look at a candidate is read at every tick, among the metrics of years. */
export class ChallengerLooks extends Migration {
  override up(): void {
    this.addSql(`
create index meta_metric_challenger on intelligence.meta_metric ((details->'scope'->>'registry_id'), computed_at desc) where metric = 'challenger_lift'`);
  }
}
