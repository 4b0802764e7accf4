import { Field, Int, ObjectType } from 'type-graphql';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { Quantity } from '../../../runtime/schema/scalars.js';
import { UnitSystem, ValueRange } from './units.js';

export enum BiomarkerObservationComparator {
  LT = 'lt',
  LE = 'le',
  GE = 'ge',
  GT = 'gt',
}

export enum BiomarkerObservationRangeBasis {
  QUALIFIED = 'qualified',
  UNQUALIFIED = 'unqualified',
  NONE = 'none',
}

export enum BiomarkerObservationInterpretation {
  LL = 'll',
  L = 'l',
  N = 'n',
  H = 'h',
  HH = 'hh',
  A = 'a',
}
registerEnums(
  { BiomarkerObservationComparator, BiomarkerObservationRangeBasis, BiomarkerObservationInterpretation },
  {
    BiomarkerObservationComparator: 'A censored result: less than, at most, at least, more than.',
    BiomarkerObservationRangeBasis: "QUALIFIED: by the patient's sex or age; UNQUALIFIED: by ranges for everybody; NONE: no range applied.",
    BiomarkerObservationInterpretation: 'HL7 v3 ObservationInterpretation.',
  },
);

@ObjectType('BiomarkerAppliedRange', { description: 'The ranges that a result was judged by, canonical unit.' })
export class AppliedRange {
  @Field(() => ValueRange, { nullable: true })
  reference: ValueRange | null;

  @Field(() => ValueRange, { nullable: true })
  optimal: ValueRange | null;

  @Field(() => Int)
  dictionaryVersion: number;
}

/** The parts of a result that are kept sealed, as one JSON text. */
export interface SealedResult {
  value: number | null;
  unit: string | null;
  comparator: BiomarkerObservationComparator | null;
  textValue: string | null;
  /** In the reported unit. */
  reportedRange: ValueRange | null;
  appliedRange: AppliedRange | null;
  rangeBasis: BiomarkerObservationRangeBasis;
  interpretation: BiomarkerObservationInterpretation | null;
  inOptimal: boolean | null;
  /** Canonical unit and its decimals, so that a list needs no dictionary. */
  canonicalUnit: string;
  decimals: number;
  /** The value in the SI and in the conventional unit, where it can be converted. */
  bySystem: Readonly<Record<UnitSystem, Quantity | null>>;
}
