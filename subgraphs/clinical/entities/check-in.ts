import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Ctx, Directive, Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { HEALTH } from '../../../runtime/data/safe-views.js';
import type { Context } from '../../../runtime/request/context.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { openJson, sealJson } from './sealed.js';
import { seesValues } from './value-access.js';

export enum CheckInStatus {
  DUE = 'due',
  SUBMITTED = 'submitted',
  MISSED = 'missed',
  SKIPPED = 'skipped',
}

export enum CheckInQuestionType {
  BOOLEAN = 'boolean',
  SCALE = 'scale',
  CHOICE = 'choice',
  TEXT = 'text',
}
registerEnums({ CheckInStatus, CheckInQuestionType });

@ObjectType({ description: 'One question of a check-in.' })
export class CheckInQuestion {
  @Field(() => String)
  key: string;

  @Field(() => String)
  text: string;

  @Field(() => CheckInQuestionType)
  type: CheckInQuestionType;

  @Field(() => Boolean)
  required: boolean;

  @Field(() => Float, { nullable: true, description: 'Lowest value of a SCALE.' })
  min: number | null;

  @Field(() => Float, { nullable: true, description: 'Highest value of a SCALE.' })
  max: number | null;

  @Field(() => [String], { description: 'Answers of a CHOICE.' })
  options: string[];
}

/** Who may see check-ins. */
export const CHECK_IN_READERS = {
  service: 'admin:clinical',
  staff: 'admin:clinical:read',
  user: 'read:check_ins|write:check_ins',
  internal: ['comms'],
} as const;

/** One version of a questionnaire; no personal data. Source: clinical 1. */
@Access(CHECK_IN_READERS)
@ObjectType({ description: 'Questions of a check-in.' })
@Entity({ tableName: 'check_in_template' })
@Unique({ properties: ['key', 'version'] })
@Unique({ name: 'check_in_template_current', properties: ['key'], where: 'superseded_at is null' })
export class CheckInTemplate {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String)
  @Property({ type: 'text' })
  key: string;

  @Field(() => Int)
  @Property({ type: 'int' })
  version: number = 1;

  @Field(() => String)
  @Property({ type: 'text' })
  title: string;

  @Field(() => [CheckInQuestion])
  @Property({ type: 'json' })
  questions: CheckInQuestion[];

  @Property({ type: 'datetime', length: 3, nullable: true })
  supersededAt: Date | null = null;
}

const contextOf = (id: string): string => `check_in.answers_sealed:${id}`;

/** One questionnaire that a patient is to fill in. Source: clinical 2, 3. */
@Access(CHECK_IN_READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A questionnaire that a patient is to fill in.' })
@Entity({ tableName: 'check_in' })
@Index({ name: 'check_in_patient', properties: ['patientId', 'dueAt', 'id'] })
@Index({ name: 'check_in_due', properties: ['dueAt'], where: "status = 'due'" })
@Unique({ name: 'check_in_sequence', properties: ['interventionId', 'templateKey', 'sequence'] })
export class CheckIn {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  patientId: string;

  @Property({ type: 'uuid' })
  templateId: string;

  @Property({ type: 'text' })
  templateKey: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  interventionId: string;

  @Field(() => Int, { description: '1 for the first of its template in the intervention.' })
  @Property({ type: 'int' })
  sequence: number;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  dueAt: Date;

  @Field(() => CheckInStatus)
  @Enum({ items: () => CheckInStatus, type: 'string' })
  status: CheckInStatus = CheckInStatus.DUE;

  @Property({ type: 'blob', nullable: true, hidden: true, comment: HEALTH })
  answersSealed: Buffer | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  submittedAt: Date | null = null;

  seal(ctx: Context, details: object): void {
    this.answersSealed = sealJson(ctx, details, contextOf(this.id));
  }

  open(ctx: Context): object | null {
    return openJson<object>(ctx, this.answersSealed, contextOf(this.id));
  }

  @Field(() => JSONObject, { nullable: true, description: 'By the key of the question.' })
  answers(@Ctx() ctx: Context): object | null {
    return seesValues(ctx.caller, this.patientId) ? this.open(ctx) : null;
  }
}

export const CheckInConnection = connectionOf(CheckIn, 'CheckIn');
