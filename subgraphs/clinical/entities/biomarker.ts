import { Check, Entity, Enum, ManyToOne, OneToMany, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Collection, DecimalType, type Rel } from '@mikro-orm/postgresql';
import { Directive, Field, Float, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { UnitConversion, ValueRange } from './units.js';

export enum BiomarkerCategory {
  LIPIDS = 'lipids',
  METABOLIC = 'metabolic',
  HORMONES = 'hormones',
  THYROID = 'thyroid',
  INFLAMMATION = 'inflammation',
  LIVER = 'liver',
  KIDNEY = 'kidney',
  VITAMINS = 'vitamins',
  HEMATOLOGY = 'hematology',
  ELECTROLYTES = 'electrolytes',
  VITALS = 'vitals',
  OTHER = 'other',
}

export enum BiomarkerSpecimen {
  SERUM = 'serum',
  PLASMA = 'plasma',
  WHOLE_BLOOD = 'whole_blood',
  URINE = 'urine',
  SALIVA = 'saliva',
  DBS = 'dbs',
}

export enum BiomarkerDirection {
  LOWER_IS_BETTER = 'lower_is_better',
  HIGHER_IS_BETTER = 'higher_is_better',
  WITHIN_RANGE = 'within_range',
}

export enum BiomarkerStatus {
  ACTIVE = 'active',
  DEPRECATED = 'deprecated',
}

export enum BiomarkerNoiseModel {
  LOG_NORMAL = 'log_normal',
  ABSOLUTE = 'absolute',
}

export enum BiomarkerRangeKind {
  REFERENCE = 'reference',
  OPTIMAL = 'optimal',
  CRITICAL = 'critical',
  PANIC = 'panic',
}

export enum BiomarkerRangeSex {
  ANY = 'any',
  FEMALE = 'female',
  MALE = 'male',
}
registerEnums(
  { BiomarkerCategory, BiomarkerSpecimen, BiomarkerDirection, BiomarkerStatus, BiomarkerNoiseModel, BiomarkerRangeKind, BiomarkerRangeSex },
  { BiomarkerSpecimen: 'DBS: dried blood spot.' },
);

/** Limits beyond which a result raises an alert, inclusive, in the canonical unit. */
@ObjectType('BiomarkerCritical', { description: 'Limits for everybody beyond which a result raises an alert.' })
export class CriticalLimits {
  @Field(() => ValueRange, { nullable: true, description: 'To be acknowledged within 4 hours.' })
  critical: ValueRange | null;

  @Field(() => ValueRange, { nullable: true, description: 'To be acknowledged within an hour.' })
  panic: ValueRange | null;
}

/** How much a result varies without any change of the person: biological and analytical variation as fractions. */
@ObjectType({ description: 'Variation of results without a change of the person; the reference change value follows from it.' })
export class BiomarkerNoise {
  @Field(() => BiomarkerNoiseModel)
  model: BiomarkerNoiseModel;

  @Field(() => Float, { nullable: true, description: 'Within-person biological coefficient of variation, a fraction.' })
  cvWithin: number | null;

  @Field(() => Float, { nullable: true, description: 'Analytical coefficient of variation of one laboratory, a fraction.' })
  cvAnalytical: number | null;

  @Field(() => Float, { nullable: true, description: 'The same between two laboratories or methods; default twice that of one.' })
  cvAnalyticalBetween: number | null;

  @Field(() => Float, { nullable: true, description: 'Standard deviation in the canonical unit, for ABSOLUTE.' })
  sd: number | null;

  @Field(() => Float, { description: 'Quantile of the standard normal distribution, one-sided.' })
  z: number;

  @Field(() => String)
  source: string;

  @Field(() => Int)
  sourceYear: number;
}

/**
 * One version of a dictionary entry; no personal data. A change is a new row, because observations keep the version that
 * judged them. Source: clinical 2.
 */
@Access({ service: '*', user: '*' })
@Directive('@key(fields: "code")')
@ObjectType({ description: 'A biomarker of the dictionary.' })
@Entity({ tableName: 'biomarker' })
@Unique({ properties: ['code', 'version'] })
@Unique({ name: 'biomarker_code_current', properties: ['code'], where: 'superseded_at is null' })
@Unique({ name: 'biomarker_loinc_current', properties: ['loinc'], where: 'superseded_at is null' })
@Check({ name: 'biomarker_code_check', expression: "code ~ '^[a-z][a-z0-9_]{1,47}$'" })
@Check({ name: 'biomarker_decimals_check', expression: 'decimals >= 0 and decimals <= 6' })
export class Biomarker {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String, { description: 'The code in every event.' })
  @Property({ type: 'text' })
  code: string;

  @Field(() => String)
  @Property({ type: 'text' })
  loinc: string;

  @Field(() => [String])
  @Property({ type: 'string[]' })
  otherLoincs: string[] = [];

  @Field(() => String)
  @Property({ type: 'text' })
  name: string;

  @Field(() => String)
  @Property({ type: 'text' })
  shortName: string;

  @Field(() => BiomarkerCategory)
  @Enum({ items: () => BiomarkerCategory, type: 'string' })
  category: BiomarkerCategory;

  @Field(() => BiomarkerSpecimen)
  @Enum({ items: () => BiomarkerSpecimen, type: 'string' })
  specimen: BiomarkerSpecimen;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  fasting: boolean;

  @Field(() => String, { description: 'Canonical UCUM unit.' })
  @Property({ type: 'text' })
  unit: string;

  @Field(() => [UnitConversion])
  @Property({ type: 'json' })
  otherUnits: UnitConversion[] = [];

  @Field(() => Int, { description: 'Places that values in the canonical unit are shown with.' })
  @Property({ type: 'smallint' })
  decimals: number;

  @Field(() => Float, { nullable: true, description: 'g/mol, for mass and substance concentrations.' })
  @Property({ type: new DecimalType('number'), columnType: 'numeric', nullable: true })
  molarMass: number | null = null;

  @Field(() => BiomarkerDirection)
  @Enum({ items: () => BiomarkerDirection, type: 'string' })
  direction: BiomarkerDirection;

  @Field(() => BiomarkerNoise)
  @Property({ type: 'json' })
  noise: BiomarkerNoise;

  @Field(() => ValueRange, { description: 'Values outside, in the canonical unit, are stored only when they are confirmed.' })
  @Property({ type: 'json' })
  plausible: ValueRange;

  @Field(() => String, { description: 'Where unit, molar mass and plausible values come from.' })
  @Property({ type: 'text' })
  source: string;

  @Field(() => BiomarkerStatus)
  @Enum({ items: () => BiomarkerStatus, type: 'string' })
  status: BiomarkerStatus = BiomarkerStatus.ACTIVE;

  @Field(() => Int)
  @Property({ type: 'int' })
  version: number = 1;

  /** Null for the version in force. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  supersededAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @OneToMany(() => BiomarkerRange, range => range.biomarker)
  ranges = new Collection<BiomarkerRange>(this);
}

/** One range of a dictionary version; the most specific that fits a patient applies. Source: clinical 2, range choice. */
@ObjectType({ description: 'A range of a biomarker.' })
@Entity({ tableName: 'biomarker_range' })
export class BiomarkerRange {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @ManyToOne({ entity: () => Biomarker, deleteRule: 'cascade', index: true })
  biomarker: Rel<Biomarker>;

  @Field(() => BiomarkerRangeKind)
  @Enum({ items: () => BiomarkerRangeKind, type: 'string' })
  kind: BiomarkerRangeKind;

  @Field(() => BiomarkerRangeSex)
  @Enum({ items: () => BiomarkerRangeSex, type: 'string' })
  sex: BiomarkerRangeSex = BiomarkerRangeSex.ANY;

  @Field(() => Int, { nullable: true, description: 'Years, inclusive.' })
  @Property({ type: 'smallint', nullable: true })
  ageFrom: number | null = null;

  @Field(() => Int, { nullable: true, description: 'Years, exclusive.' })
  @Property({ type: 'smallint', nullable: true })
  ageTo: number | null = null;

  @Field(() => String, { nullable: true, description: 'Condition code.' })
  @Property({ type: 'text', nullable: true })
  condition: string | null = null;

  @Field(() => String, { nullable: true, description: 'Laboratory key.' })
  @Property({ type: 'text', nullable: true })
  performer: string | null = null;

  @Field(() => Float, { nullable: true })
  @Property({ type: new DecimalType('number'), columnType: 'numeric', nullable: true })
  low: number | null = null;

  @Field(() => Float, { nullable: true })
  @Property({ type: new DecimalType('number'), columnType: 'numeric', nullable: true })
  high: number | null = null;

  @Field(() => String)
  @Property({ type: 'text' })
  source: string;
}

export const BiomarkerConnection = connectionOf(Biomarker, 'Biomarker');
