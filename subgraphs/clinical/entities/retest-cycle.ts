import { Check, Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { DecimalType } from '@mikro-orm/postgresql';
import { Ctx, Directive, Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { HEALTH } from '../../../runtime/data/safe-views.js';
import type { Context } from '../../../runtime/request/context.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, Quantity } from '../../../runtime/schema/scalars.js';
import { Brand, User } from '../stubs.js';
import { InterventionKind } from './intervention.js';
import { ValueRange } from './units.js';
import { isHeldBack, seesValues } from './value-access.js';

export enum RetestCycleStatus {
  BASELINE_SET = 'baseline_set',
  PROMPTED = 'prompted',
  RETESTED = 'retested',
  EXPIRED = 'expired',
}

export enum RetestCycleOutcomeDirection {
  IMPROVED = 'improved',
  WORSENED = 'worsened',
  UNCHANGED = 'unchanged',
}

export enum RetestCycleOutcomeBasis {
  TARGET = 'target',
  DIRECTION_ONLY = 'direction_only',
  WITHIN_NOISE = 'within_noise',
  INSIDE_TARGET = 'inside_target',
  CENSORED = 'censored',
  NO_TARGET = 'no_target',
}

export enum RetestCycleTiming {
  EARLY = 'early',
  IN_WINDOW = 'in_window',
  LATE = 'late',
}
registerEnums(
  { RetestCycleStatus, RetestCycleOutcomeDirection, RetestCycleOutcomeBasis, RetestCycleTiming },
  {
    RetestCycleStatus: 'The first two are open, the last two final.',
    RetestCycleOutcomeBasis: 'Why a direction was given.',
    RetestCycleTiming: 'Before half the window; up to 7 days after it; later.',
  },
);

@ObjectType({ description: 'What a re-test cycle measures.' })
export class RetestCycleIntervention {
  @Field(() => InterventionKind)
  kind: InterventionKind;

  @Field(() => ID)
  id: string;

  @Field(() => String)
  key: string;
}

/** Who may see cycles; who of them sees values is decided per field. */
export const CYCLE_READERS = {
  service: 'admin:clinical',
  staff: 'admin:clinical:read|admin:clinical:retest',
  user: 'read:my_outcomes',
  internal: ['comms', 'intelligence'],
} as const;

/** A plain number; the decorator keeps what it is given, so each column gets its own. */
const number = () => ({ type: new DecimalType('number'), columnType: 'numeric', nullable: true, hidden: true }) as const;

/** A health value for a caller who may see it, else null; a critical one is kept from the member for a while. */
const shown = <Value>(cycle: RetestCycle, ctx: Context, value: Value | null): Value | null =>
  seesValues(ctx.caller, cycle.patientId) && !cycle.isHeldBack(ctx) ? value : null;

/**
 * One baseline of one marker on an intervention, waiting for its follow-up; closed into an Outcome Record or expired. Values are
 * plain numbers, for the service's own role only; the safe view has none of them. Source: spec 1, Re-test cycle; clinical 2.
 */
@Access(CYCLE_READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A baseline that waits for its re-test, and its outcome.' })
@Entity({ tableName: 'retest_cycle' })
@Unique({ name: 'retest_cycle_baseline', properties: ['patientId', 'code', 'baselineDrawId'] })
@Index({ name: 'retest_cycle_created', properties: ['createdAt', 'id'] })
@Index({ name: 'retest_cycle_patient_created', properties: ['patientId', 'createdAt', 'id'] })
@Index({ name: 'retest_cycle_due', properties: ['retestDueAt'] })
@Index({ name: 'retest_cycle_closed', properties: ['closedAt'], where: 'closed_at is not null' })
@Index({ name: 'retest_cycle_open', properties: ['id'], where: "status in ('baseline_set', 'prompted')" })
@Check({ name: 'retest_cycle_window_check', expression: 'window_days >= 14 and window_days <= 365' })
@Check({ name: 'retest_cycle_grace_check', expression: 'grace_days >= 0 and grace_days <= 90' })
export class RetestCycle {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  patientId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  code: string;

  @Field(() => ID, { description: 'Brand that the prompt flag is evaluated for.' })
  @Property({ type: 'uuid' })
  brandId: string;

  @Field(() => RetestCycleStatus)
  @Enum({ items: () => RetestCycleStatus, type: 'string' })
  status: RetestCycleStatus = RetestCycleStatus.BASELINE_SET;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  baselineObservationId: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  baselineDrawId: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  baselineCollectedAt: Date;

  @Property({ fieldName: 'baseline_value', ...number(), nullable: false, comment: HEALTH })
  baselineAmount: number;

  /** Canonical unit of the marker, for all values of the cycle. */
  @Property({ type: 'text', hidden: true, comment: HEALTH })
  unit: string;

  @Enum({ items: () => InterventionKind, type: 'string' })
  interventionKind: InterventionKind;

  @Property({ type: 'uuid' })
  interventionId: string;

  @Property({ type: 'text' })
  interventionKey: string;

  @Field(() => Int)
  @Property({ type: 'smallint' })
  windowDays: number;

  @Field(() => Int)
  @Property({ type: 'smallint' })
  graceDays: number;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  retestDueAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  expiresAt: Date;

  @Property({ ...number(), comment: HEALTH })
  targetLow: number | null = null;

  @Property({ ...number(), comment: HEALTH })
  targetHigh: number | null = null;

  @Field(() => Int)
  @Property({ type: 'smallint' })
  promptCount: number = 0;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  lastPromptedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true, description: 'Earliest next prompt; null when there will be none.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  nextPromptAt: Date | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  followUpObservationId: string | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  followUpDrawId: string | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  followUpCollectedAt: Date | null = null;

  @Property({ fieldName: 'follow_up_value', ...number(), comment: HEALTH })
  followUpAmount: number | null = null;

  @Property({ fieldName: 'delta', ...number(), comment: HEALTH })
  deltaAmount: number | null = null;

  @Property({ fieldName: 'delta_percent', ...number(), comment: HEALTH })
  deltaShare: number | null = null;

  @Enum({ items: () => RetestCycleOutcomeDirection, type: 'string', nullable: true })
  outcomeDirection: RetestCycleOutcomeDirection | null = null;

  @Enum({ items: () => RetestCycleOutcomeBasis, type: 'string', nullable: true })
  outcomeBasis: RetestCycleOutcomeBasis | null = null;

  @Property({ type: 'boolean', nullable: true })
  crossedTarget: boolean | null = null;

  @Field(() => Int, { nullable: true, description: 'Whole days from baseline to follow-up draw.' })
  @Property({ type: 'int', nullable: true })
  daysToRetest: number | null = null;

  @Field(() => RetestCycleTiming, { nullable: true })
  @Enum({ items: () => RetestCycleTiming, type: 'string', nullable: true })
  timing: RetestCycleTiming | null = null;

  @Field(() => Boolean, { nullable: true, description: 'Re-tested without any prompt.' })
  @Property({ type: 'boolean', nullable: true })
  organic: boolean | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  closedAt: Date | null = null;

  /** First result that arrived after the cycle had expired; it is counted, nothing else. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  lateFollowUpAt: Date | null = null;

  /** As long as one of its results is a critical value that the member may not see yet. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  valuesHiddenUntil: Date | null = null;

  @Field(() => Int, { description: 'Failures in a row.' })
  @Property({ type: 'int' })
  failureCount: number = 0;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  lastErrorClass: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'int', version: true })
  version: number;

  /** Whether what its results show is kept from the caller for now. */
  isHeldBack(ctx: Context): boolean {
    return isHeldBack(ctx, { hiddenUntil: this.valuesHiddenUntil });
  }

  @Field(() => RetestCycleIntervention)
  intervention(): RetestCycleIntervention {
    return { kind: this.interventionKind, id: this.interventionId, key: this.interventionKey };
  }

  @Field(() => Quantity, { nullable: true, description: 'Canonical unit.' })
  baselineValue(@Ctx() ctx: Context): Quantity | null {
    return shown(this, ctx, { value: this.baselineAmount, unit: this.unit });
  }

  @Field(() => Quantity, { nullable: true, description: 'Canonical unit; the limit of a censored result.' })
  followUpValue(@Ctx() ctx: Context): Quantity | null {
    return shown(this, ctx, this.followUpAmount === null ? null : { value: this.followUpAmount, unit: this.unit });
  }

  @Field(() => RetestCycleOutcomeDirection, { name: 'outcomeDirection', nullable: true })
  shownDirection(@Ctx() ctx: Context): RetestCycleOutcomeDirection | null {
    return this.isHeldBack(ctx) ? null : this.outcomeDirection;
  }

  @Field(() => RetestCycleOutcomeBasis, { name: 'outcomeBasis', nullable: true })
  shownBasis(@Ctx() ctx: Context): RetestCycleOutcomeBasis | null {
    return this.isHeldBack(ctx) ? null : this.outcomeBasis;
  }

  @Field(() => Boolean, { name: 'crossedTarget', nullable: true, description: 'The follow-up is on the other side of the target.' })
  shownCrossing(@Ctx() ctx: Context): boolean | null {
    return this.isHeldBack(ctx) ? null : this.crossedTarget;
  }

  @Field(() => Float, { nullable: true, description: 'Follow-up minus baseline, canonical unit; null when either is censored.' })
  delta(@Ctx() ctx: Context): number | null {
    return shown(this, ctx, this.deltaAmount);
  }

  @Field(() => Float, { nullable: true, description: 'Delta in percent of the baseline, 1 decimal.' })
  deltaPercent(@Ctx() ctx: Context): number | null {
    return shown(this, ctx, this.deltaShare);
  }

  @Field(() => ValueRange, { nullable: true, description: "The clinician's goal for this cycle; replaces the dictionary's." })
  target(@Ctx() ctx: Context): ValueRange | null {
    const set = this.targetLow !== null || this.targetHigh !== null;
    return shown(this, ctx, set ? { low: this.targetLow, high: this.targetHigh } : null);
  }

  @Field(() => User)
  patient(): User {
    return { id: this.patientId };
  }

  @Field(() => Brand)
  brand(): Brand {
    return { id: this.brandId };
  }
}

export const RetestCycleConnection = connectionOf(RetestCycle, 'RetestCycle');
