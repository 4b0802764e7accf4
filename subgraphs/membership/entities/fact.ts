import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { newId } from '../../../runtime/data/ids.js';
import { FactKind } from './enums.js';

/** Something that happened to a member, kept as it was told. An event's fact has the event's id. Source: membership 7.1. */
@Entity({ tableName: 'membership_fact' })
@Index({ name: 'membership_fact_user_id_kind', properties: ['userId', 'kind'] })
export class MembershipFact {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  userId: string;

  /** Null: known by the subscription. */
  @Property({ type: 'uuid', nullable: true })
  brandId: string | null = null;

  @Enum({ items: () => FactKind })
  kind: FactKind;

  /** The subscription, or the order. */
  @Property({ type: 'text', nullable: true })
  subjectId: string | null = null;

  @Property({ type: 'datetime', length: 3 })
  occurredAt: Date;

  /** Number in the log of events, which orders facts of one instant. */
  @Property({ type: new BigIntType('number') })
  seq: number;

  @Property({ type: 'datetime', length: 3 })
  recordedAt: Date;

  @Property({ type: 'json' })
  data: object = {};
}
