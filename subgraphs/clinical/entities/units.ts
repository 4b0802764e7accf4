import { Field, Float, Int, ObjectType } from 'type-graphql';
import { registerEnums } from '../../../runtime/schema/enums.js';

export enum UnitConversionMethod {
  UCUM = 'ucum',
  MOLAR_MASS = 'molar_mass',
  AFFINE = 'affine',
}

export enum UnitSystem {
  SI = 'si',
  CONVENTIONAL = 'conventional',
}
registerEnums(
  { BiomarkerUnitConversionMethod: UnitConversionMethod, BiomarkerUnitSystem: UnitSystem },
  { BiomarkerUnitConversionMethod: 'AFFINE: canonical = factor * value + offset.' },
);

/** Edges of a range, inclusive, in the canonical unit; a missing edge is open. */
@ObjectType('BiomarkerBounds', { description: 'Edges of a range, inclusive; a missing edge is open.' })
export class ValueRange {
  @Field(() => Float, { nullable: true })
  low: number | null;

  @Field(() => Float, { nullable: true })
  high: number | null;
}

@ObjectType('BiomarkerUnitConversion', { description: 'Another unit that results are reported in, and how it becomes the canonical one.' })
export class UnitConversion {
  @Field(() => String)
  unit: string;

  @Field(() => UnitConversionMethod)
  method: UnitConversionMethod;

  @Field(() => Float, { nullable: true, description: 'Slope of an affine conversion.' })
  factor: number | null;

  @Field(() => Float, { nullable: true, description: 'Intercept of an affine conversion, canonical unit.' })
  offset: number | null;

  @Field(() => UnitSystem, { nullable: true })
  system: UnitSystem | null;

  @Field(() => Int)
  decimals: number;
}
