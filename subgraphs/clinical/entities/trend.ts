import { Field, Float, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { BiomarkerObservationComparator, BiomarkerObservationInterpretation } from './result.js';
import { ValueRange } from './units.js';

/** What one result shows against the one before. */
export enum TrendChange {
  RISE = 'rise',
  FALL = 'fall',
  NONE = 'none',
}
registerEnums(
  { BiomarkerTrendChange: TrendChange },
  {
    BiomarkerTrendChange: 'Against the point before: beyond the noise of the measurement, or NONE; null where the two cannot be compared.',
  },
);

@ObjectType({ description: 'One result of a trend, canonical unit.' })
export class BiomarkerTrendPoint {
  @Field(() => ID)
  observationId: string;

  @Field(() => DateTime)
  collectedAt: Date;

  @Field(() => Float)
  value: number;

  @Field(() => BiomarkerObservationComparator, { nullable: true })
  comparator: BiomarkerObservationComparator | null;

  @Field(() => BiomarkerObservationInterpretation, { nullable: true })
  interpretation: BiomarkerObservationInterpretation | null;

  @Field(() => Boolean, { nullable: true })
  inOptimal: boolean | null;

  @Field(() => TrendChange, { nullable: true })
  change: TrendChange | null;
}

@ObjectType({
  description: 'How much a result may differ without a change of the person; in percent, or in the canonical unit where `absolute`.',
})
export class BiomarkerChangeBand {
  @Field(() => Float)
  rise: number;

  @Field(() => Float)
  fall: number;

  @Field(() => Boolean)
  absolute: boolean;
}

@Access({ user: 'read:biomarkers' })
@ObjectType({ description: 'Results of one marker over time, oldest first.' })
export class BiomarkerTrend {
  @Field(() => String)
  code: string;

  @Field(() => String)
  unit: string;

  @Field(() => ValueRange, { nullable: true, description: 'As applied to the newest point.' })
  reference: ValueRange | null;

  @Field(() => ValueRange, { nullable: true, description: 'As applied to the newest point.' })
  optimal: ValueRange | null;

  @Field(() => BiomarkerChangeBand)
  changeBand: BiomarkerChangeBand;

  @Field(() => [BiomarkerTrendPoint])
  points: BiomarkerTrendPoint[];
}
