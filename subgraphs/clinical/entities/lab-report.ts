import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Ctx, Directive, Field, Float, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { newId } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { HEALTH, PERSONAL } from '../../../runtime/data/safe-views.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { ValueRange } from './biomarker.js';
import { BiomarkerObservation, BiomarkerObservationComparator, type BiomarkerObservationStatus } from './observation.js';
import { openJson } from './sealed.js';
import { isHeldBack, seesValues } from './value-access.js';
import { registerEnums } from '../../../runtime/schema/enums.js';

export enum LabReportStatus {
  UPLOADED = 'uploaded',
  SCANNING = 'scanning',
  PARSING = 'parsing',
  NEEDS_REVIEW = 'needs_review',
  PARSED = 'parsed',
  FAILED = 'failed',
  REJECTED = 'rejected',
}

export enum LabReportSource {
  MEMBER = 'member',
  STAFF = 'staff',
  PARTNER = 'partner',
  LABS = 'labs',
}

export enum ReportRowState {
  MATCHED = 'matched',
  UNMATCHED = 'unmatched',
  IMPLAUSIBLE = 'implausible',
  DUPLICATE = 'duplicate',
  ACCEPTED = 'accepted',
  REJECTED = 'rejected',
}
registerEnums({ LabReportStatus, LabReportSource, ReportRowState }, { ReportRowState: 'The first three wait for a person.' });

export const REPORT_READERS = {
  service: 'admin:clinical',
  staff: 'admin:clinical:read|admin:clinical:results',
  user: 'read:lab_results|write:biomarkers',
} as const;

@ObjectType({ description: 'What read a report.' })
export class LabReportParser {
  @Field(() => String)
  name: string;

  @Field(() => String)
  version: string;
}

@ObjectType({ description: 'Rows of a report by what became of them.' })
export class LabReportCounts {
  @Field(() => Int)
  rows: number;

  @Field(() => Int)
  accepted: number;

  @Field(() => Int)
  open: number;

  @Field(() => Int)
  duplicate: number;

  @Field(() => Int)
  rejected: number;
}

/** An uploaded report and what was read of it. Source: clinical 2, 4.2. */
@Access(REPORT_READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'An uploaded laboratory report.' })
@Entity({ tableName: 'lab_report' })
@Index({ name: 'lab_report_patient', properties: ['patientId', 'createdAt', 'id'] })
@Index({ name: 'lab_report_due', properties: ['dueAt'], where: 'due_at is not null' })
@Unique({ name: 'lab_report_content', properties: ['patientId', 'sha256'] })
export class LabReport {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  patientId: string;

  @Field(() => LabReportStatus)
  @Enum({ items: () => LabReportStatus, type: 'string' })
  status: LabReportStatus = LabReportStatus.UPLOADED;

  @Field(() => LabReportSource)
  @Enum({ items: () => LabReportSource, type: 'string' })
  source: LabReportSource;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  documentId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  mimeType: string;

  @Field(() => String)
  @Property({ type: 'text', comment: PERSONAL })
  sha256: string;

  @Field(() => Int, { nullable: true })
  @Property({ type: 'int', nullable: true })
  pageCount: number | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  performer: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true, comment: PERSONAL })
  reportNumber: string | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  collectedAt: Date | null = null;

  /** One draw for all results of the report. */
  @Property({ type: 'uuid' })
  drawId: string = newId();

  @Property({ type: 'text', nullable: true })
  parserName: string | null = null;

  @Property({ type: 'text', nullable: true })
  parserVersion: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  failureCode: string | null = null;

  @Property({ type: 'int' })
  attempts: number = 0;

  /** When it is read next; null when there is nothing to do. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  dueAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => LabReportParser, { nullable: true })
  parser(): LabReportParser | null {
    return this.parserName === null ? null : { name: this.parserName, version: this.parserVersion! };
  }
}

/** The bytes of a report, sealed; they live and go with the patient's rows. */
@Entity({ tableName: 'lab_document' })
@Index({ name: 'lab_document_patient', properties: ['patientId'] })
export class LabDocument {
  @PrimaryKey({ type: 'uuid' })
  id: string;

  @Property({ type: 'uuid' })
  patientId: string;

  @Property({ type: 'blob', hidden: true, lazy: true, comment: HEALTH })
  bytesSealed: Buffer;
}

export const documentPlace = (id: string): string => `lab_document.bytes_sealed:${id}`;

export interface SealedRow {
  rawText: string;
  value: number | null;
  unit: string | null;
  comparator: BiomarkerObservationComparator | null;
  range: ValueRange | null;
  /** A unit of the dictionary in which an implausible value would be plausible. */
  proposedUnit: string | null;
  /** Its own draw where the report has several; null where it does not say, nothing where the report's draw is of all rows. */
  drawn?: { at: string; id: string } | null;
  /** Nothing: final. */
  status?: BiomarkerObservationStatus;
}

/** The result that a row became, in the request's batch. */
const resultOf = (ctx: Context, id: string): Promise<BiomarkerObservation | null> =>
  ctx.load('report_row.result', id, async ids =>
    inOrder(ids, await ctx.em.find(BiomarkerObservation, { id: { $in: [...ids] } }), row => row.id),
  );

export const rowPlace = (id: string): string => `report_row.details_sealed:${id}`;

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

  open(ctx: Context): SealedRow {
    return openJson<SealedRow>(ctx, this.detailsSealed, rowPlace(this.id))!;
  }

  /** The same for a caller, null when the caller may not see values, or the critical one not yet. Source: clinical 7.3.2. */
  async shown(ctx: Context): Promise<SealedRow | null> {
    if (!seesValues(ctx.caller, this.patientId)) return null;
    const result = this.observationId && (await resultOf(ctx, this.observationId));
    return result && isHeldBack(ctx, result) ? null : this.open(ctx);
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
