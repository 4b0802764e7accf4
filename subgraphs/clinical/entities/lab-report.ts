import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { HEALTH, PERSONAL } from '../../../runtime/data/safe-views.js';
import type { Context } from '../../../runtime/request/context.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { after } from '../../../runtime/time/durations.js';
import { HELD_BACK_MS } from './value-access.js';

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

registerEnums({ LabReportStatus, LabReportSource });

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

  @Field(() => Int, { nullable: true, description: 'All lines that were read: each is a row or `other`. Null while nothing is read.' })
  lines: number | null;

  @Field(() => Int, { nullable: true, description: 'Lines that could be no result: headings, addresses, remarks.' })
  other: number | null;
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

  @Property({ type: 'int', nullable: true })
  linesRead: number | null = null;

  /** Of them, those that could be no result. */
  @Property({ type: 'int', nullable: true })
  otherLines: number | null = null;

  @Property({ type: 'int' })
  attempts: number = 0;

  /** When it is read next; null when there is nothing to do. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  dueAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  /**
   * What others sent in may hold a critical value that nobody has judged: until it is read and reviewed the member waits for it as for
   * such a value. What the member has sent in the member has.
   */
  unjudgedUntil(): Date | null {
    const isJudged = this.status === LabReportStatus.PARSED || this.status === LabReportStatus.REJECTED;
    return this.source === LabReportSource.MEMBER || isJudged ? null : after(this.createdAt, HELD_BACK_MS);
  }

  @Field(() => LabReportParser, { nullable: true })
  parser(): LabReportParser | null {
    return this.parserName === null ? null : { name: this.parserName, version: this.parserVersion! };
  }
}

const documentContext = (id: string): string => `lab_document.bytes_sealed:${id}`;

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

  seal(ctx: Context, bytes: Buffer): void {
    this.bytesSealed = ctx.host.sealer.seal(bytes.toString('base64'), documentContext(this.id));
  }

  open(ctx: Context): Buffer {
    return Buffer.from(ctx.host.sealer.open(this.bytesSealed, documentContext(this.id)), 'base64');
  }
}

export const LabReportConnection = connectionOf(LabReport, 'LabReport');

@Access(REPORT_READERS)
@ObjectType({ description: 'A link to the file of a report, good for 60 seconds.' })
export class LabReportFile {
  @Field(() => String)
  url: string;

  @Field(() => DateTime)
  expiresAt: Date;
}
