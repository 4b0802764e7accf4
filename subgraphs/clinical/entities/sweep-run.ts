import { Entity, Enum, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime } from '../../../runtime/schema/scalars.js';

export enum SweepRunTrigger {
  TIMER = 'timer',
  MANUAL = 'manual',
}
registerEnums({ SweepRunTrigger });

/** One run over all open re-test cycles and what became of them; counts only. Source: clinical 2. */
@Access({ service: 'admin:clinical', staff: 'admin:clinical:read|admin:clinical:retest' })
@ObjectType({ description: 'One sweep over all open re-test cycles.' })
@Entity({ tableName: 'sweep_run' })
@Index({ name: 'sweep_run_started', properties: ['startedAt', 'id'] })
export class SweepRun {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => SweepRunTrigger)
  @Enum({ items: () => SweepRunTrigger, type: 'string' })
  trigger: SweepRunTrigger;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  startedAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  finishedAt: Date | null = null;

  @Field(() => Int, { description: 'Open cycles looked at.' })
  @Property({ type: 'int' })
  scanned: number = 0;

  @Field(() => Int)
  @Property({ type: 'int' })
  prompted: number = 0;

  @Field(() => Int)
  @Property({ type: 'int' })
  expired: number = 0;

  @Field(() => Int, { description: 'Closed by a follow-up that was already stored.' })
  @Property({ type: 'int' })
  recorded: number = 0;

  @Field(() => Int, { description: 'Due, but the prompt flag is off for this brand and user.' })
  @Property({ type: 'int' })
  skippedFlag: number = 0;

  @Field(() => Int, { description: 'Due, but prompted too lately or too often.' })
  @Property({ type: 'int' })
  skippedLimit: number = 0;

  @Field(() => Int, { description: 'Due, but a lab order with this marker is under way.' })
  @Property({ type: 'int' })
  skippedLabInProgress: number = 0;

  @Field(() => Int, { description: 'Rolled back alone; the next run tries them again.' })
  @Property({ type: 'int' })
  failed: number = 0;
}

export const SweepRunConnection = connectionOf(SweepRun, 'SweepRun');
