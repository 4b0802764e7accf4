import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Ctx, Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { HEALTH } from '../../../runtime/data/safe-views.js';
import type { Context } from '../../../runtime/request/context.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { after } from '../../../runtime/time/durations.js';
import { openJson, sealJson } from './sealed.js';
import { HELD_BACK_MS, isHidden, notHeldBack, seesValues } from './value-access.js';

export enum RedFlagSource {
  BIOMARKER = 'biomarker',
  CHECK_IN = 'check_in',
  WEARABLE = 'wearable',
  QUESTIONNAIRE = 'questionnaire',
}

export enum RedFlagSeverity {
  INFO = 'info',
  WARNING = 'warning',
  URGENT = 'urgent',
}

export enum RedFlagStatus {
  OPEN = 'open',
  ACKNOWLEDGED = 'acknowledged',
  RESOLVED = 'resolved',
  DISMISSED = 'dismissed',
}

export enum RedFlagRuleStatus {
  ACTIVE = 'active',
  RETIRED = 'retired',
}
registerEnums({ RedFlagSource, RedFlagSeverity, RedFlagStatus, RedFlagRuleStatus });

/** Who may see flags; a member those that are visible. */
export const FLAG_READERS = {
  service: 'admin:clinical',
  staff: 'admin:clinical:read|admin:clinical:alerts',
  user: 'read:red_flags',
  internal: ['workflow', 'comms'],
} as const;

/** One version of a rule; no personal data. Source: clinical 2. */
@Access(FLAG_READERS)
@ObjectType({ description: 'When a red flag is raised.' })
@Entity({ tableName: 'red_flag_rule' })
@Unique({ properties: ['key', 'version'] })
export class RedFlagRule {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String)
  @Property({ type: 'text' })
  key: string;

  @Field(() => Int)
  @Property({ type: 'int' })
  version: number = 1;

  @Field(() => RedFlagSource)
  @Enum({ items: () => RedFlagSource, type: 'string' })
  source: RedFlagSource;

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read|admin:clinical:alerts' })
  @Field(() => JSONObject, { description: 'JSON logic over coded inputs.' })
  @Property({ type: 'json' })
  condition: object;

  @Field(() => RedFlagSeverity)
  @Enum({ items: () => RedFlagSeverity, type: 'string' })
  severity: RedFlagSeverity;

  @Field(() => String)
  @Property({ type: 'text' })
  memberMessageKey: string;

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read|admin:clinical:alerts' })
  @Field(() => String)
  @Property({ type: 'text' })
  clinicianAction: string;

  @Field(() => RedFlagRuleStatus)
  @Enum({ items: () => RedFlagRuleStatus, type: 'string' })
  status: RedFlagRuleStatus = RedFlagRuleStatus.ACTIVE;
}

/** Sealed parts of a flag. */
export interface SealedFlag {
  /** Ids of observations or check-ins that made the rule fire. */
  evidence: string[];
  resolution: string | null;
}

const contextOf = (id: string): string => `red_flag.details_sealed:${id}`;

/** A rule that fired for a patient. Source: clinical 2, 3. */
@Access(FLAG_READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A warning that a rule raised about a patient.' })
@Entity({ tableName: 'red_flag' })
@Index({ name: 'red_flag_detected', properties: ['detectedAt', 'id'] })
@Index({ name: 'red_flag_patient', properties: ['patientId', 'detectedAt', 'id'] })
@Unique({ name: 'red_flag_open', properties: ['patientId', 'ruleKey'], where: "status in ('open', 'acknowledged')" })
export class RedFlag {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  patientId: string;

  @Property({ type: 'uuid' })
  ruleId: string;

  @Property({ type: 'text' })
  ruleKey: string;

  @Field(() => RedFlagSeverity)
  @Enum({ items: () => RedFlagSeverity, type: 'string' })
  severity: RedFlagSeverity;

  @Field(() => RedFlagSource)
  @Enum({ items: () => RedFlagSource, type: 'string' })
  source: RedFlagSource;

  @Field(() => RedFlagStatus)
  @Enum({ items: () => RedFlagStatus, type: 'string' })
  status: RedFlagStatus = RedFlagStatus.OPEN;

  /** {@link SealedFlag}. */
  @Property({ type: 'blob', hidden: true, comment: HEALTH })
  detailsSealed: Buffer;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  detectedAt: Date;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  acknowledgedBy: string | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  acknowledgedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  resolvedAt: Date | null = null;

  /** As long as a result among its evidence is kept from the member. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  hiddenUntil: Date | null = null;

  seal(ctx: Context, details: SealedFlag): void {
    this.detailsSealed = sealJson(ctx, details, contextOf(this.id));
  }

  open(ctx: Context): SealedFlag {
    return openJson<SealedFlag>(ctx, this.detailsSealed, contextOf(this.id))!;
  }

  @Field(() => [ID], { nullable: true, description: 'Observations or check-ins that made the rule fire.' })
  evidence(@Ctx() ctx: Context): string[] | null {
    return seesValues(ctx.caller, this.patientId) ? this.open(ctx).evidence : null;
  }

  @Field(() => String, { nullable: true })
  resolution(@Ctx() ctx: Context): string | null {
    return seesValues(ctx.caller, this.patientId) ? this.open(ctx).resolution : null;
  }

  @Field(() => Boolean, { description: 'An URGENT one once it is acknowledged or 24 h old, others at once.' })
  visibleToMember(@Ctx() ctx: Context): boolean {
    return isVisible(this, ctx.now());
  }
}

const isVisible = (flag: Pick<RedFlag, 'severity' | 'acknowledgedAt' | 'detectedAt' | 'hiddenUntil'>, now: Date): boolean =>
  !isHidden(flag, now) &&
  (flag.severity !== RedFlagSeverity.URGENT || flag.acknowledgedAt !== null || flag.detectedAt <= after(now, -HELD_BACK_MS));

/** The same as a condition on rows. */
export const visibleAt = (now: Date) => ({
  $and: [
    notHeldBack(now),
    {
      $or: [
        { severity: { $ne: RedFlagSeverity.URGENT } },
        { acknowledgedAt: { $ne: null } },
        { detectedAt: { $lte: after(now, -HELD_BACK_MS) } },
      ],
    },
  ],
});

export const RedFlagConnection = connectionOf(RedFlag, 'RedFlag');
