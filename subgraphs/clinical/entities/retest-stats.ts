import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { DateTime } from '../../../runtime/schema/scalars.js';

/**
 * Counts of re-test cycles, kept by a trigger: every change of a cycle adds a row that takes it out of one group and one that puts it
 * into another, and each sweep folds the rows together. So the statistics cost no scan (110 ms at 1 M cycles) and writers never wait
 * for each other. No personal data. Source: clinical 7.1.15.
 */
@Entity({ tableName: 'retest_tally' })
export class RetestTally {
  @PrimaryKey({ type: 'uuid', defaultRaw: 'gen_random_uuid()' })
  id: string;

  @Property({ type: 'uuid' })
  brandId: string;

  @Property({ type: 'text' })
  code: string;

  @Property({ type: 'text' })
  interventionKey: string;

  @Property({ type: 'text' })
  status: string;

  @Property({ type: 'int' })
  cycles: number;

  /** Sum of days to re-test. */
  @Property({ type: 'bigint' })
  days: string;

  @Property({ type: 'int' })
  organic: number;

  /** Expired cycles with a late follow-up. */
  @Property({ type: 'int' })
  late: number;
}

@ObjectType({ description: 'Re-test cycles per status.' })
export class RetestCounts {
  @Field(() => Int)
  baselineSet: number;

  @Field(() => Int)
  prompted: number;

  @Field(() => Int)
  retested: number;

  @Field(() => Int)
  expired: number;
}

/** Aggregates only. Source: spec 1, Re-test cycle 7; clinical 4.1. */
@Access({ service: 'admin:clinical', staff: 'admin:clinical:read', user: 'read:clinical' })
@ObjectType({ description: 'How often members re-test; aggregates only.' })
export class RetestStats {
  @Field(() => Float, { nullable: true, description: 'retested / (retested + expired), 4 decimals; null when nothing is closed.' })
  retestRate: number | null;

  @Field(() => RetestCounts)
  counts: RetestCounts;

  @Field(() => Int)
  closed: number;

  @Field(() => Float, { nullable: true, description: 'Mean over retested cycles, 1 decimal; null when there are none.' })
  averageDaysToRetest: number | null;

  @Field(() => Int, { description: 'Retested without any prompt.' })
  organicRetested: number;

  @Field(() => Int)
  promptedRetested: number;

  @Field(() => Int, { description: 'Expired cycles for which a result arrived afterwards.' })
  lateFollowUps: number;

  @Field(() => DateTime)
  computedAt: Date;
}
