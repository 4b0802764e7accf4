import { Entity, Enum, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Ctx, Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { HEALTH } from '../../../runtime/data/safe-views.js';
import { type Caller, holdsPermission } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, JSONObject, LocalDate } from '../../../runtime/schema/scalars.js';
import { openJson, sealJson } from './sealed.js';
import { seesValues } from './value-access.js';

export enum ConsultStatus {
  REQUESTED = 'requested',
  SCHEDULED = 'scheduled',
  IN_PROGRESS = 'in_progress',
  SIGNED = 'signed',
  CANCELLED = 'cancelled',
}

export enum ConsultOutcome {
  APPROVED = 'approved',
  DENIED = 'denied',
  MORE_INFO = 'more_info',
  REFERRED = 'referred',
}
registerEnums({ ConsultStatus, ConsultOutcome });

@ObjectType({ description: 'What was added to a signed consult.' })
export class ConsultAddendum {
  @Field(() => DateTime)
  at: Date;

  @Field(() => String)
  by: string;

  @Field(() => String, { nullable: true })
  text: string | null;
}

/** Who may see consults; payments and workflow their state and outcome only. */
export const CONSULT_READERS = {
  service: 'admin:clinical',
  staff: 'admin:clinical:consults|admin:clinical:read',
  user: 'read:clinical|write:clinical',
  internal: ['payments', 'workflow'],
} as const;

export interface SealedConsult {
  intakeAnswers: object | null;
  notes: string | null;
  addenda: { at: string; by: string; text: string }[];
}

const contextOf = (id: string): string => `consult.details_sealed:${id}`;

/** Notes are for the clinicians who hold consults, and for services that speak for them. Source: clinical 4. */
const seesNotes = (caller: Caller): boolean =>
  (caller.kind === 'service' && caller.scopes.has('admin:clinical')) || holdsPermission(caller, 'admin:clinical:consults');

/** A clinician's judgement of a patient; once signed it never changes. Source: clinical 2, 3. */
@Access(CONSULT_READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: "A clinician's judgement of a patient; once signed it never changes." })
@Entity({ tableName: 'consult' })
@Index({ name: 'consult_created', properties: ['createdAt', 'id'] })
@Index({ name: 'consult_patient', properties: ['patientId', 'createdAt', 'id'] })
@Index({ name: 'consult_visit', properties: ['visitId'], where: 'visit_id is not null' })
export class Consult {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  patientId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  type: string;

  @Field(() => ConsultStatus)
  @Enum({ items: () => ConsultStatus, type: 'string' })
  status: ConsultStatus = ConsultStatus.REQUESTED;

  @Field(() => ID, { nullable: true, description: 'The intervention that waits for it.' })
  @Property({ type: 'uuid', nullable: true })
  interventionId: string | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  visitId: string | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  clinicianId: string | null = null;

  @Field(() => ConsultOutcome, { nullable: true })
  @Enum({ items: () => ConsultOutcome, type: 'string', nullable: true })
  outcome: ConsultOutcome | null = null;

  @Field(() => LocalDate, { nullable: true })
  @Property({ type: 'date', nullable: true })
  followUpDueOn: string | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  signedAt: Date | null = null;

  /** {@link SealedConsult}. */
  @Property({ type: 'blob', hidden: true, comment: HEALTH })
  detailsSealed: Buffer;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'int', version: true })
  version: number;

  seal(ctx: Context, details: SealedConsult): void {
    this.detailsSealed = sealJson(ctx, details, contextOf(this.id));
  }

  open(ctx: Context): SealedConsult {
    return openJson<SealedConsult>(ctx, this.detailsSealed, contextOf(this.id))!;
  }

  @Field(() => JSONObject, { nullable: true })
  intakeAnswers(@Ctx() ctx: Context): object | null {
    return seesValues(ctx.caller, this.patientId) || seesNotes(ctx.caller) ? this.open(ctx).intakeAnswers : null;
  }

  @Field(() => String, { nullable: true, description: 'For those who hold consults.' })
  notes(@Ctx() ctx: Context): string | null {
    return seesNotes(ctx.caller) ? this.open(ctx).notes : null;
  }

  @Field(() => [ConsultAddendum])
  addenda(@Ctx() ctx: Context): ConsultAddendum[] {
    const shown = seesNotes(ctx.caller);
    return this.open(ctx).addenda.map(({ at, by, text }) => ({ at: new Date(at), by, text: shown ? text : null }));
  }
}

export const ConsultConnection = connectionOf(Consult, 'Consult');

/** What is kept of a signed consult after an erasure, where the operator must keep it: type and dates, nobody's. Source: clinical 7.1.17. */
@Entity({ tableName: 'retained_consult' })
@Index({ name: 'retained_consult_end', properties: ['keepUntil'] })
export class RetainedConsult {
  @PrimaryKey({ type: 'uuid' })
  id: string;

  @Property({ type: 'text' })
  type: string;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Property({ type: 'datetime', length: 3 })
  signedAt: Date;

  @Property({ type: 'date', nullable: true })
  followUpDueOn: string | null = null;

  @Property({ type: 'datetime', length: 3 })
  keepUntil: Date;
}
