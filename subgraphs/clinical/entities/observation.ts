import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { DecimalType } from '@mikro-orm/postgresql';
import { Ctx, Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { HEALTH } from '../../../runtime/data/safe-views.js';
import type { Context } from '../../../runtime/request/context.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, Quantity } from '../../../runtime/schema/scalars.js';
import {
  AppliedRange,
  BiomarkerObservationComparator,
  BiomarkerObservationInterpretation,
  BiomarkerObservationRangeBasis,
  type SealedResult,
} from './result.js';
import { roundHalfEven } from './rounding.js';
import { type UnitSystem, ValueRange } from './units.js';
import { seesValues } from './value-access.js';

export enum BiomarkerObservationSource {
  LAB = 'lab',
  PARTNER = 'partner',
  WEARABLE = 'wearable',
  MANUAL = 'manual',
}

export enum BiomarkerObservationStatus {
  PRELIMINARY = 'preliminary',
  FINAL = 'final',
  CORRECTED = 'corrected',
  ENTERED_IN_ERROR = 'entered_in_error',
}

export enum BiomarkerObservationVerification {
  UNVERIFIED = 'unverified',
  VERIFIED = 'verified',
  REJECTED = 'rejected',
}

registerEnums({ BiomarkerObservationSource, BiomarkerObservationStatus, BiomarkerObservationVerification });

/** Who may see results; who of them sees values is decided per field. */
export const OBSERVATION_READERS = {
  service: 'admin:clinical',
  staff: 'admin:clinical:read|admin:clinical:results',
  user: 'read:biomarkers|write:biomarkers',
  internal: ['patient-graph'],
} as const;

/** What the sealed bytes of a row are bound to. */
const contextOf = (id: string): string => `observation.result_sealed:${id}`;

/** Results opened in this process, as long as their rows live; private fields do not survive the ORM's construction of entities. */
const opened = new WeakMap<BiomarkerObservation, SealedResult>();

/**
 * One result of one biomarker, in FHIR Observation's terms. What was measured is sealed; only the canonical value is plain, for
 * the service's own role. Nothing is overwritten: a correction is a new row. Source: clinical 2.
 */
@Access(OBSERVATION_READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'One result of one biomarker.' })
@Entity({ tableName: 'observation' })
@Index({ name: 'observation_patient_collected', properties: ['patientId', 'collectedAt', 'id'] })
@Index({ name: 'observation_patient_code_collected', properties: ['patientId', 'code', 'collectedAt'] })
@Unique({ name: 'observation_source_ref', properties: ['source', 'sourceRef'], where: 'source_ref is not null and superseded_by is null' })
@Unique({
  name: 'observation_draw',
  expression: (_columns, table, indexName) =>
    `create unique index ${indexName} on ${table} (patient_id, code, draw_id, coalesce(performer, '')) where superseded_by is null and not needs_review and draw_id is not null and status <> 'entered_in_error'`,
})
export class BiomarkerObservation {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @Property({ type: 'uuid' })
  patientId: string;

  /** The dictionary version that judged it. */
  @Property({ type: 'uuid' })
  biomarkerId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  code: string;

  /** {@link SealedResult}. */
  @Property({ type: 'blob', hidden: true, comment: HEALTH })
  resultSealed: Buffer;

  /** Canonical unit, not rounded; null when it cannot be converted. */
  @Property({
    fieldName: 'canonical_value',
    type: new DecimalType('number'),
    columnType: 'numeric',
    nullable: true,
    hidden: true,
    comment: HEALTH,
  })
  canonicalAmount: number | null = null;

  @Field(() => DateTime, { description: 'Time of the draw; it decides everything clinical.' })
  @Property({ type: 'datetime', length: 3 })
  collectedAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  receivedAt: Date;

  @Field(() => ID, { nullable: true, description: 'One venipuncture or kit; the same for all its results.' })
  @Property({ type: 'uuid', nullable: true })
  drawId: string | null = null;

  @Field(() => BiomarkerObservationSource)
  @Enum({ items: () => BiomarkerObservationSource, type: 'string' })
  source: BiomarkerObservationSource;

  @Field(() => String, { nullable: true, description: 'Laboratory key.' })
  @Property({ type: 'text', nullable: true })
  performer: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  method: string | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  reportId: string | null = null;

  @Field(() => BiomarkerObservationStatus)
  @Enum({ items: () => BiomarkerObservationStatus, type: 'string' })
  status: BiomarkerObservationStatus;

  @Field(() => BiomarkerObservationVerification)
  @Enum({ items: () => BiomarkerObservationVerification, type: 'string' })
  verification: BiomarkerObservationVerification;

  @Field(() => Boolean, {
    description: 'Another result of the same draw says otherwise; until a person has decided, it closes no re-test cycle.',
  })
  @Property({ type: 'boolean' })
  needsReview: boolean = false;

  @Field(() => String, { nullable: true, description: 'Unique per source: the key of repeated ingestion.' })
  @Property({ type: 'text', nullable: true })
  sourceRef: string | null = null;

  @Field(() => ID, { nullable: true, description: 'The row that this one corrects.' })
  @Property({ type: 'uuid', nullable: true })
  supersedes: string | null = null;

  /** The row that corrects this one. */
  @Property({ type: 'uuid', nullable: true })
  supersededBy: string | null = null;

  /** A critical value is kept from the member until a clinician has acknowledged its alert, at most 24 h. Source: clinical 7.3.2. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  hiddenUntil: Date | null = null;

  /** Unit system that the reader asked for; not stored. */
  shownIn?: UnitSystem | null;

  /** What was measured, opened once. For the service's own judgement; fields that leave it check the caller first. */
  open(ctx: Context): SealedResult {
    let result = opened.get(this);
    if (!result) opened.set(this, (result = JSON.parse(ctx.host.sealer.open(this.resultSealed, contextOf(this.id))) as SealedResult));
    return result;
  }

  seal(ctx: Context, result: SealedResult): void {
    this.resultSealed = ctx.host.sealer.seal(JSON.stringify(result), contextOf(this.id));
    opened.set(this, result);
  }

  /** The same for a caller, null when the caller may not see values. */
  shown(ctx: Context): SealedResult | null {
    return seesValues(ctx.caller, this.patientId) ? this.open(ctx) : null;
  }

  @Field(() => Quantity, { nullable: true, description: 'As reported, or in the unit system that was asked for.' })
  value(@Ctx() ctx: Context): Quantity | null {
    const result = this.shown(ctx);
    if (result?.value == null) return null;
    return (this.shownIn && result.bySystem[this.shownIn]) || { value: result.value, unit: result.unit! };
  }

  @Field(() => BiomarkerObservationComparator, { nullable: true })
  comparator(@Ctx() ctx: Context): BiomarkerObservationComparator | null {
    return this.open(ctx).comparator;
  }

  @Field(() => Quantity, { nullable: true, description: 'In the canonical unit; null when it cannot be converted.' })
  canonicalValue(@Ctx() ctx: Context): Quantity | null {
    const result = this.shown(ctx);
    if (!result || this.canonicalAmount === null) return null;
    return { value: roundHalfEven(this.canonicalAmount, result.decimals), unit: result.canonicalUnit };
  }

  @Field(() => String, { nullable: true, description: 'A coded or narrative result.' })
  textValue(@Ctx() ctx: Context): string | null {
    return this.shown(ctx)?.textValue ?? null;
  }

  @Field(() => ValueRange, { nullable: true, description: "The laboratory's own range, in the reported unit." })
  reportedRange(@Ctx() ctx: Context): ValueRange | null {
    return this.shown(ctx)?.reportedRange ?? null;
  }

  @Field(() => AppliedRange, { nullable: true })
  appliedRange(@Ctx() ctx: Context): AppliedRange | null {
    return this.shown(ctx)?.appliedRange ?? null;
  }

  @Field(() => BiomarkerObservationRangeBasis, { nullable: true })
  rangeBasis(@Ctx() ctx: Context): BiomarkerObservationRangeBasis | null {
    return this.shown(ctx)?.rangeBasis ?? null;
  }

  @Field(() => BiomarkerObservationInterpretation, {
    nullable: true,
    description: 'Against our REFERENCE and CRITICAL ranges; null where they do not decide.',
  })
  interpretation(@Ctx() ctx: Context): BiomarkerObservationInterpretation | null {
    return this.open(ctx).interpretation;
  }

  @Field(() => Boolean, { nullable: true })
  inOptimal(@Ctx() ctx: Context): boolean | null {
    return this.shown(ctx)?.inOptimal ?? null;
  }
}

export const ObservationConnection = connectionOf(BiomarkerObservation, 'BiomarkerObservation');
