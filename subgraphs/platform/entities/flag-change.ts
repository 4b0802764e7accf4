import { Check, Entity, Enum, Index, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { createUnionType, Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { FREE_TEXT, PERSONAL } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { FeatureFlag, FlagChangeStatus } from './flag.js';

@ObjectType({ description: 'That a member of the staff stands behind a change.' })
export class FlagApproval {
  @Field(() => String, { description: 'staff:<id>' })
  by: string;

  @Field(() => DateTime)
  at: string;
}

/** What changed, by whom and why; a protected flag's change waits here for its approval. Source: platform 2. */
@Access({ service: 'admin:platform', staff: 'admin:platform:flags' })
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A change of a flag: asked for, waiting, scheduled, applied or not.' })
@Entity({ tableName: 'flag_change' })
@Index({ name: 'flag_change_flag_key_created_at', properties: ['flagKey', 'createdAt', 'id'] })
@Check({ name: 'flag_change_reason_check', expression: 'char_length(reason) >= 10' })
export class FlagChange {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String)
  @ManyToOne({ entity: () => FeatureFlag, mapToPk: true, fieldName: 'flag_key', index: false })
  flagKey: string;

  /** The fields that change, as they were. May hold user ids: personal. */
  @Field(() => JSONObject, { description: 'The fields that change, as they were when it was asked for; in the names of the evaluator.' })
  @Property({ type: 'json', comment: PERSONAL })
  before: Record<string, unknown>;

  @Field(() => JSONObject)
  @Property({ type: 'json', comment: PERSONAL })
  after: Record<string, unknown>;

  @Field(() => String)
  @Property({ type: 'text', comment: FREE_TEXT })
  reason: string;

  @Field(() => String, { description: 'staff:<id> or service:<client>' })
  @Property({ type: 'text', comment: PERSONAL })
  requestedBy: string;

  @Field(() => FlagChangeStatus)
  @Enum({ items: () => FlagChangeStatus })
  status: FlagChangeStatus;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  applyAt: Date | null = null;

  @Field(() => DateTime, { nullable: true, description: 'Until when it can be approved.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;

  @Field(() => [FlagApproval])
  @Property({ type: 'json', comment: PERSONAL })
  approvals: FlagApproval[] = [];

  /** Revision of the flag that it was made for; another one means that the flag changed meanwhile. */
  @Property({ type: 'integer' })
  baseRevision: number;

  @Field(() => Int, { nullable: true, description: 'Revision that it made, once applied.' })
  @Property({ type: 'integer', nullable: true })
  revision: number | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}

export const FlagChangeConnection = connectionOf(FlagChange, 'FlagChange');

/** A replayed answer is plain JSON, so the type is known by a field. */
export const FlagOutcome = createUnionType({
  name: 'FeatureFlagOutcome',
  description: 'The changed flag, or the change that waits for its approval or its time.',
  types: () => [FeatureFlag, FlagChange] as const,
  resolveType: value => ('flagKey' in value ? FlagChange : FeatureFlag),
});
