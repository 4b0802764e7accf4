import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { newId } from '../../../runtime/data/ids.js';

/** More payments fail than before; one for each breach and window. Source: payments 4.4. */
@Entity({ tableName: 'failure_alert' })
export class FailureAlert {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'datetime', length: 3 })
  windowFrom: Date;

  @Property({ type: 'datetime', length: 3 })
  windowTo: Date;

  @Property({ type: 'integer' })
  attempts: number;

  @Property({ type: 'integer' })
  failures: number;

  @Property({ type: 'integer' })
  failureRateBps: number;

  @Property({ type: 'integer' })
  baselineRateBps: number;

  @Property({ type: 'datetime', length: 3 })
  raisedAt: Date;
}
