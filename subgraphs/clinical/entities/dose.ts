import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Ctx, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { HEALTH } from '../../../runtime/data/safe-views.js';
import type { Context } from '../../../runtime/request/context.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, Quantity, TimeZone } from '../../../runtime/schema/scalars.js';
import { openJson, sealJson } from './sealed.js';
import { seesValues } from './value-access.js';

export enum DoseLogStatus {
  SCHEDULED = 'scheduled',
  TAKEN = 'taken',
  SKIPPED = 'skipped',
  MISSED = 'missed',
}
registerEnums({ DoseLogStatus });

/** Who may see doses; patient-graph with values. */
const DOSE_READERS = {
  service: 'admin:clinical',
  staff: 'admin:clinical:read',
  user: 'read:protocols|write:protocols',
  internal: ['patient-graph', 'jobs', 'comms'],
} as const;

export interface SealedDose {
  quantity: Quantity | null;
  note: string | null;
}

const contextOf = (id: string): string => `dose_log.details_sealed:${id}`;

/** One planned dose and what became of it. Source: clinical 2. */
@Access(DOSE_READERS)
@ObjectType({ description: 'One planned dose and what became of it.' })
@Entity({ tableName: 'dose_log' })
@Index({ name: 'dose_log_patient', properties: ['patientId', 'scheduledFor', 'id'] })
@Index({ name: 'dose_log_due', properties: ['scheduledFor'], where: "status = 'scheduled'" })
@Unique({ name: 'dose_log_slot', properties: ['interventionId', 'productCode', 'scheduledFor'] })
export class DoseLog {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  patientId: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  interventionId: string;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  vialId: string | null = null;

  @Field(() => String)
  @Property({ type: 'text' })
  productCode: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  scheduledFor: Date;

  @Field(() => TimeZone)
  @Property({ type: 'text' })
  timeZone: string;

  @Field(() => DoseLogStatus)
  @Enum({ items: () => DoseLogStatus, type: 'string' })
  status: DoseLogStatus = DoseLogStatus.SCHEDULED;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  takenAt: Date | null = null;

  @Field(() => String, { nullable: true, description: 'Where it was given, a code.' })
  @Property({ type: 'text', nullable: true })
  site: string | null = null;

  /** {@link SealedDose}. */
  @Property({ type: 'blob', hidden: true, comment: HEALTH })
  detailsSealed: Buffer;

  seal(ctx: Context, details: SealedDose): void {
    this.detailsSealed = sealJson(ctx, details, contextOf(this.id));
  }

  open(ctx: Context): SealedDose {
    return openJson<SealedDose>(ctx, this.detailsSealed, contextOf(this.id))!;
  }

  /** patient-graph merges doses into its own record, so it sees values. Source: clinical 4. */
  shown(ctx: Context): SealedDose | null {
    return ctx.caller.serviceSlug === 'patient-graph' || seesValues(ctx.caller, this.patientId) ? this.open(ctx) : null;
  }

  @Field(() => Quantity, { nullable: true })
  quantity(@Ctx() ctx: Context): Quantity | null {
    return this.shown(ctx)?.quantity ?? null;
  }

  @Field(() => String, { nullable: true })
  note(@Ctx() ctx: Context): string | null {
    return this.shown(ctx)?.note ?? null;
  }
}

export const DoseLogConnection = connectionOf(DoseLog, 'DoseLog');
