import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { HEALTH, PERSONAL } from '../../../runtime/data/safe-views.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { READERS } from './access.js';

/** What a feature set may hold and for how long it counts. Source: intelligence 2, FeatureSet. */
@Entity({ tableName: 'feature_set' })
export class FeatureSet {
  @PrimaryKey({ type: 'text' })
  key: string;

  @Property({ type: 'int' })
  version: number;

  @Property({ type: 'json' })
  schema: Record<string, unknown>;

  /** Older values are served as missing. */
  @Property({ type: 'int' })
  maxAgeHours: number;
}

/** Bands, counts and codes about an entity, never measured values. Source: intelligence 2, FeatureVector. */
@Access(READERS)
@ObjectType({ description: 'Bands, counts and codes about an entity, never measured values.' })
@Entity({ tableName: 'feature_vector' })
export class FeatureVector {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String)
  @Property({ type: 'text' })
  entityType: string;

  @Property({ type: 'uuid', fieldName: 'entity_id', comment: PERSONAL })
  entity: string;

  @Field(() => String)
  @Property({ type: 'text' })
  featureSet: string;

  @Field(() => Int, { description: 'Of the set.' })
  @Property({ type: 'int' })
  version: number;

  @Property({ type: 'blob', comment: HEALTH })
  sealed: Buffer;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  asOf: Date;

  @Property({ type: 'text', nullable: true })
  sourceEventId: string | null = null;
}
