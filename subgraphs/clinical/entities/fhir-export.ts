import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { HEALTH } from '../../../runtime/data/safe-views.js';
import type { Context } from '../../../runtime/request/context.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { openJson, sealJson } from './sealed.js';

export enum FhirExportRelease {
  R4 = 'r4',
  R5 = 'r5',
}

export enum ClinicalExportStatus {
  RUNNING = 'running',
  COMPLETE = 'complete',
  FAILED = 'failed',
}
registerEnums({ FhirExportRelease, ClinicalExportStatus }, { FhirExportRelease: 'R4 is 4.0.1.' });

const contextOf = (id: string): string => `fhir_export.bundle_sealed:${id}`;

/** An export that is too large to be answered at once; it goes an hour after it was asked for. Source: clinical 4, FHIR export. */
@Entity({ tableName: 'fhir_export' })
@Index({ name: 'fhir_export_patient', properties: ['patientId'] })
@Index({ name: 'fhir_export_due', properties: ['dueAt'] })
@Unique({ name: 'fhir_export_running', properties: ['asker', 'patientId', 'release', 'isMember'], where: "status = 'running'" })
export class FhirExport {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  patientId: string;

  /** `user:<id>` or `service:<client>`: who alone may read it. */
  @Property({ type: 'text' })
  asker: string;

  @Enum({ items: () => FhirExportRelease, type: 'string' })
  release: FhirExportRelease;

  /** Without what a member may not see yet. */
  @Property({ type: 'boolean' })
  isMember: boolean;

  @Enum({ items: () => ClinicalExportStatus, type: 'string' })
  status: ClinicalExportStatus = ClinicalExportStatus.RUNNING;

  @Property({ type: 'int' })
  attempts: number = 0;

  @Property({ type: 'int', nullable: true })
  resourceCount: number | null = null;

  @Property({ type: 'blob', nullable: true, hidden: true, lazy: true, comment: HEALTH })
  bundleSealed: Buffer | null = null;

  /** When it is made, or tried again; once it has ended, when it is deleted. */
  @Property({ type: 'datetime', length: 3 })
  dueAt: Date;

  @Property({ type: 'datetime', length: 3 })
  expiresAt: Date;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  seal(ctx: Context, bundle: object): void {
    this.bundleSealed = sealJson(ctx, bundle, contextOf(this.id));
  }

  /** Null until it is complete, and where the bytes were not loaded. */
  open(ctx: Context): object | null {
    return openJson<object>(ctx, this.bundleSealed ?? null, contextOf(this.id));
  }
}

/** Who may export a record. */
export const EXPORTERS = {
  service: 'admin:clinical',
  staff: 'admin:clinical:read',
  internal: ['patient-graph'],
  user: ['read:clinical', 'read:biomarkers'],
} as const;

@Access(EXPORTERS)
@ObjectType({ description: "Clinical's part of a person's record, in FHIR." })
export class ClinicalExport {
  @Field(() => ID, { nullable: true, description: 'Of an export that is made afterwards; null for one that is answered at once.' })
  id: string | null = null;

  @Field(() => ClinicalExportStatus)
  status: ClinicalExportStatus;

  @Field(() => Int, { nullable: true, description: 'Null until it is complete.' })
  resourceCount: number | null;

  @Field(() => JSONObject, { nullable: true, description: 'A FHIR Bundle of type collection; null until it is complete.' })
  bundle: object | null;

  @Field(() => DateTime, { nullable: true, description: 'When an export that is made afterwards is deleted.' })
  expiresAt: Date | null = null;
}
