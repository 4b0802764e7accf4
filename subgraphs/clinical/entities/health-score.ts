import { Entity, Enum, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Ctx, Directive, Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { HEALTH } from '../../../runtime/data/safe-views.js';
import type { Context } from '../../../runtime/request/context.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { BiomarkerCategory } from './biomarker.js';
import { openJson, sealJson } from './sealed.js';
import { seesValues } from './value-access.js';

export enum HealthScoreStatus {
  COMPLETE = 'complete',
  PARTIAL = 'partial',
  INSUFFICIENT_DATA = 'insufficient_data',
}

export enum HealthScoreBand {
  LOW = 'low',
  FAIR = 'fair',
  GOOD = 'good',
  OPTIMAL = 'optimal',
}

export enum HealthScoreTrend {
  UP = 'up',
  DOWN = 'down',
  FLAT = 'flat',
  FIRST = 'first',
}
registerEnums(
  { HealthScoreStatus, HealthScoreBand, HealthScoreTrend },
  { HealthScoreBand: 'Below 50, below 70, below 85, up to 100.', HealthScoreTrend: 'FLAT: less than 2 points.' },
);

@ObjectType({ description: 'What one marker adds.' })
export class HealthScoreContributor {
  @Field(() => String)
  code: string;

  @Field(() => Float)
  subscore: number;

  @Field(() => Int)
  freshnessDays: number;
}

@ObjectType({ description: 'A category of the score.' })
export class HealthScoreComponent {
  @Field(() => BiomarkerCategory)
  category: BiomarkerCategory;

  @Field(() => Float)
  score: number;

  @Field(() => Float)
  weight: number;

  @Field(() => [HealthScoreContributor])
  contributors: HealthScoreContributor[];
}

export interface SealedScore {
  score: number | null;
  components: HealthScoreComponent[];
}

export const SCORE_READERS = { service: 'admin:clinical', staff: 'admin:clinical:read', user: 'read:clinical' } as const;
const contextOf = (id: string): string => `health_score.details_sealed:${id}`;

/** One computation of a patient's score; the score itself is sealed, the band is not. Source: clinical 2, 7.3.1. */
@Access(SCORE_READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'How a patient stands over all markers.' })
@Entity({ tableName: 'health_score' })
@Index({ name: 'health_score_patient', properties: ['patientId', 'computedAt', 'id'] })
export class HealthScore {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  patientId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  modelVersion: string;

  @Field(() => HealthScoreStatus)
  @Enum({ items: () => HealthScoreStatus, type: 'string' })
  status: HealthScoreStatus;

  @Field(() => HealthScoreBand, { nullable: true })
  @Enum({ items: () => HealthScoreBand, type: 'string', nullable: true })
  band: HealthScoreBand | null = null;

  @Field(() => HealthScoreTrend, { nullable: true })
  @Enum({ items: () => HealthScoreTrend, type: 'string', nullable: true })
  trend: HealthScoreTrend | null = null;

  @Field(() => Float, { description: "Share of the model's markers that have a fresh result, 0 to 1." })
  @Property({ type: 'double' })
  coverage: number;

  @Property({ type: 'blob', hidden: true, comment: HEALTH })
  detailsSealed: Buffer;

  /** Whether an event announced this row. */
  @Property({ type: 'boolean' })
  announced: boolean = false;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  computedAt: Date;

  seal(ctx: Context, details: SealedScore): void {
    this.detailsSealed = sealJson(ctx, details, contextOf(this.id));
  }

  open(ctx: Context): SealedScore {
    return openJson<SealedScore>(ctx, this.detailsSealed, contextOf(this.id))!;
  }

  @Field(() => Float, { nullable: true, description: '0 to 100, 1 decimal.' })
  score(@Ctx() ctx: Context): number | null {
    return seesValues(ctx.caller, this.patientId) ? this.open(ctx).score : null;
  }

  @Field(() => [HealthScoreComponent], { nullable: true })
  components(@Ctx() ctx: Context): HealthScoreComponent[] | null {
    return seesValues(ctx.caller, this.patientId) ? this.open(ctx).components : null;
  }
}

/** A patient whose results changed: the score is computed once they have been quiet for a while. */
@Entity({ tableName: 'health_score_due' })
@Index({ name: 'health_score_due_at', properties: ['dueAt'] })
export class HealthScoreDue {
  @PrimaryKey({ type: 'uuid' })
  patientId: string;

  @Property({ type: 'datetime', length: 3 })
  dueAt: Date;
}

export const HealthScoreConnection = connectionOf(HealthScore, 'HealthScore');

@Access({ service: 'admin:clinical', staff: 'admin:clinical:results' })
@ObjectType({ description: 'A planned computation.' })
export class HealthScorePlan {
  @Field(() => ID)
  userId: string;

  @Field(() => DateTime)
  dueAt: Date;
}
