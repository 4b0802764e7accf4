import { Check, Entity, Enum, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, JSONObject, Quantity } from '../../../runtime/schema/scalars.js';
import { ValueRange } from './units.js';

export enum ProtocolStatus {
  DRAFT = 'draft',
  ACTIVE = 'active',
  RETIRED = 'retired',
}
registerEnums({ ProtocolStatus });

@ObjectType({ description: 'One dose of a phase.' })
export class ProtocolDose {
  @Field(() => String)
  productCode: string;

  @Field(() => Quantity)
  quantity: Quantity;

  @Field(() => String)
  route: string;

  @Field(() => JSONObject, { description: 'FHIR Timing.' })
  timing: unknown;

  @Field(() => [String], { description: 'HH:MM in the time zone of the member.' })
  timesOfDay: string[];
}

@ObjectType({ description: 'A repeated questionnaire of a phase.' })
export class ProtocolCheckIn {
  @Field(() => String)
  templateKey: string;

  @Field(() => Int)
  everyDays: number;
}

@ObjectType({ description: 'A part of a protocol, in days since its start.' })
export class ProtocolPhase {
  @Field(() => String)
  name: string;

  @Field(() => Int)
  startDay: number;

  @Field(() => Int)
  endDay: number;

  @Field(() => [ProtocolDose])
  doses: ProtocolDose[];

  @Field(() => [ProtocolCheckIn])
  checkIns: ProtocolCheckIn[];
}

@ObjectType({ description: 'A biomarker that a protocol is to change, with its re-test window and goal.' })
export class ProtocolMarker {
  @Field(() => String)
  code: string;

  @Field(() => Int, { nullable: true, description: 'Days from baseline to re-test.' })
  windowDays: number | null;

  @Field(() => ValueRange, { nullable: true, description: 'Goal, canonical unit.' })
  target: ValueRange | null;
}

/** One version of a clinical plan; unchangeable once used. Source: clinical 2. */
@Access({ service: '*', user: '*' })
@Directive('@key(fields: "key")')
@ObjectType({ description: 'A clinical plan.' })
@Entity({ tableName: 'protocol' })
@Unique({ properties: ['key', 'version'] })
@Unique({ name: 'protocol_key_current', properties: ['key'], where: 'superseded_at is null' })
@Check({ name: 'protocol_key_check', expression: "key ~ '^[a-z][a-z0-9_]{1,47}$'" })
export class Protocol {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String)
  @Property({ type: 'text' })
  key: string;

  @Field(() => Int)
  @Property({ type: 'int' })
  version: number = 1;

  @Field(() => String)
  @Property({ type: 'text' })
  title: string;

  @Field(() => ProtocolStatus)
  @Enum({ items: () => ProtocolStatus, type: 'string' })
  status: ProtocolStatus;

  @Field(() => Int)
  @Property({ type: 'int' })
  durationDays: number;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  requiresConsult: boolean;

  @Field(() => [ProtocolPhase])
  @Property({ type: 'json' })
  phases: ProtocolPhase[];

  @Field(() => [ProtocolMarker])
  @Property({ type: 'json' })
  markers: ProtocolMarker[];

  @Field(() => [String], { description: 'Codes of conditions and medications.' })
  @Property({ type: 'string[]' })
  contraindications: string[] = [];

  /** Null for the version in force. */
  @Property({ type: 'datetime', length: 3, nullable: true })
  supersededAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}

export const ProtocolConnection = connectionOf(Protocol, 'Protocol');
