import { Entity, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { PrimaryKeyProp } from '@mikro-orm/postgresql';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { READERS } from './subscription.js';
import { InboundReceiptStatus, InboundScheme } from './enums.js';

/** Proof that an inbound vendor call was verified and stored. */
@Access(READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A vendor call that was verified and stored.' })
@Unique({ properties: ['source', 'vendorEventId'] })
@Entity({ tableName: 'inbound_receipt' })
export class InboundReceipt {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String)
  @Property({ type: 'text' })
  source: string;

  @Field(() => String)
  @Property({ type: 'text' })
  topic: string;

  @Field(() => String)
  @Property({ type: 'text' })
  vendorEventId: string;

  @Field(() => String, { nullable: true, description: "The vendor's id of the thing that it is about." })
  @Property({ type: 'text', nullable: true })
  externalId: string | null;

  @Field(() => InboundReceiptStatus)
  @Property({ type: 'text' })
  status: InboundReceiptStatus = 'accepted';

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  receivedAt: Date;

  @Field(() => Int, { description: 'Bytes.' })
  @Property({ type: 'integer' })
  bodySize: number;

  /** Sealed as `inbound_receipt.body:<id>`; null after an erasure. */
  @Property({ type: 'blob', nullable: true })
  bodySealed: Buffer | null;

  /** Digests of the ids in the body, so that the erasure of a user finds it. */
  @Property({ type: 'array', columnType: 'bytea[]' })
  subjectDigests: Buffer[];

  @Field(() => ID, { description: 'The newest webhook.received.v1 of it.' })
  @Property({ type: 'uuid' })
  emittedEventId: string;
}

export const InboundReceiptConnection = connectionOf(InboundReceipt, 'InboundReceipt');

/** When a source was last heard of. What it is stands in `rules/inbound.ts`. */
@Entity({ tableName: 'inbound_source' })
export class InboundSourceState {
  @PrimaryKey({ type: 'text' })
  name: string;

  @Property({ type: 'datetime', length: 3, nullable: true })
  lastReceivedAt: Date | null;
}

/** Calls of a source that were refused, by hour. */
@Entity({ tableName: 'inbound_rejection' })
export class InboundRejection {
  [PrimaryKeyProp]?: ['source', 'hour'];

  @PrimaryKey({ type: 'text' })
  source: string;

  @PrimaryKey({ type: 'datetime', length: 3 })
  hour: Date;

  @Property({ type: 'integer' })
  rejected: number;
}

@Access(READERS)
@ObjectType({ description: 'A vendor whose calls are taken.' })
export class InboundSource {
  @Field(() => String)
  name: string;

  @Field(() => InboundScheme)
  scheme: InboundScheme;

  @Field(() => [String], { description: 'Headers that bear signature, delivery id, topic and, where there is one, timestamp.' })
  headerNames: string[];

  @Field(() => Int, { nullable: true, description: 'Null: the scheme has no timestamp.' })
  toleranceSeconds: number | null;

  @Field(() => DateTime, { nullable: true })
  lastReceivedAt: Date | null;

  @Field(() => Int, { description: 'Calls of the last 24 hours that were refused, by the hour.' })
  rejected24h: number;

  @Field(() => [String], { description: 'The last four characters of each secret, the newest first.' })
  secrets: string[];
}
