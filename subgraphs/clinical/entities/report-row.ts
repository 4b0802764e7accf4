import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Ctx, Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { HEALTH } from '../../../runtime/data/safe-views.js';
import type { Context } from '../../../runtime/request/context.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { LabReport, REPORT_READERS } from './lab-report.js';
import { BiomarkerObservation, BiomarkerObservationStatus } from './observation.js';
import { BiomarkerObservationComparator } from './result.js';
import { openJson, sealJson } from './sealed.js';
import { ValueRange } from './units.js';
import { isHeldBack, seesValues } from './value-access.js';

export enum ReportRowState {
  MATCHED = 'matched',
  UNMATCHED = 'unmatched',
  IMPLAUSIBLE = 'implausible',
  DUPLICATE = 'duplicate',
  ACCEPTED = 'accepted',
  REJECTED = 'rejected',
}
registerEnums({ ReportRowState }, { ReportRowState: 'The first three wait for a person.' });

export interface SealedRow {
  rawText: string;
  value: number | null;
  unit: string | null;
  comparator: BiomarkerObservationComparator | null;
  range: ValueRange | null;
  /** A unit of the dictionary in which an implausible value would be plausible. */
  proposedUnit: string | null;
  /** Its own draw where the report has several; null where it leaves it open, nothing where the report's draw is of all rows. */
  drawn?: { at: string; id: string } | null;
  /** Nothing: final. */
  status?: BiomarkerObservationStatus;
}

const contextOf = (id: string): string => `report_row.details_sealed:${id}`;

/** One line of a report that looks like a result. Source: clinical 2, 4.2. */
@Access(REPORT_READERS)
@ObjectType({ description: 'One line of a report that looks like a result.' })
@Entity({ tableName: 'report_row' })
@Unique({ name: 'report_row_position', properties: ['reportId', 'position'] })
@Index({ name: 'report_row_patient', properties: ['patientId'] })
export class ReportRow {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  reportId: string;

  @Property({ type: 'uuid' })
  patientId: string;

  @Field(() => Int, { description: 'From 0, in the order of the report.' })
  @Property({ type: 'int' })
  position: number;

  @Field(() => Int)
  @Property({ type: 'int' })
  page: number;

  @Field(() => [Float], { nullable: true, description: 'x, y, width and height in points; null without a layout.' })
  @Property({ type: 'json', nullable: true })
  box: number[] | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  code: string | null = null;

  @Field(() => Float)
  @Property({ type: 'double' })
  confidence: number;

  @Field(() => ReportRowState)
  @Enum({ items: () => ReportRowState, type: 'string' })
  state: ReportRowState;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  observationId: string | null = null;

  /** {@link SealedRow}. */
  @Property({ type: 'blob', hidden: true, comment: HEALTH })
  detailsSealed: Buffer;

  seal(ctx: Context, details: SealedRow): void {
    this.detailsSealed = sealJson(ctx, details, contextOf(this.id));
  }

  open(ctx: Context): SealedRow {
    return openJson<SealedRow>(ctx, this.detailsSealed, contextOf(this.id))!;
  }

  /** Until when it is kept from the member: as its result is; as its unjudged report is, where it has none. */
  async hiddenUntil(ctx: Context): Promise<Date | null> {
    if (this.observationId) return (await loadRow(ctx, BiomarkerObservation, 'id', this.observationId))?.hiddenUntil ?? null;
    return (await loadRow(ctx, LabReport, 'id', this.reportId))?.unjudgedUntil() ?? null;
  }

  /** The same for a caller, null when the caller may not see values, or the critical one not yet. Source: clinical 7.3.2. */
  async shown(ctx: Context): Promise<SealedRow | null> {
    if (!seesValues(ctx.caller, this.patientId)) return null;
    return isHeldBack(ctx, { hiddenUntil: await this.hiddenUntil(ctx) }) ? null : this.open(ctx);
  }

  @Field(() => String, { nullable: true })
  async rawText(@Ctx() ctx: Context): Promise<string | null> {
    return (await this.shown(ctx))?.rawText ?? null;
  }

  @Field(() => Float, { nullable: true })
  async value(@Ctx() ctx: Context): Promise<number | null> {
    return (await this.shown(ctx))?.value ?? null;
  }

  @Field(() => String, { nullable: true })
  async unit(@Ctx() ctx: Context): Promise<string | null> {
    return (await this.shown(ctx))?.unit ?? null;
  }

  @Field(() => BiomarkerObservationComparator, { nullable: true })
  async comparator(@Ctx() ctx: Context): Promise<BiomarkerObservationComparator | null> {
    return (await this.shown(ctx))?.comparator ?? null;
  }

  @Field(() => ValueRange, { nullable: true })
  async range(@Ctx() ctx: Context): Promise<ValueRange | null> {
    return (await this.shown(ctx))?.range ?? null;
  }

  @Field(() => String, { nullable: true, description: 'A unit in which an implausible value would be plausible.' })
  async proposedUnit(@Ctx() ctx: Context): Promise<string | null> {
    return (await this.shown(ctx))?.proposedUnit ?? null;
  }
}
