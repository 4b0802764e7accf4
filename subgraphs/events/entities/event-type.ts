import { Directive, Field, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { EventUserRule } from './enums.js';

/** A declaration of the catalogue. */
@Access({ service: '*', user: '*', staff: '*' })
@Directive('@key(fields: "name")')
@ObjectType({ description: 'A kind of event, declared once.' })
export class EventType {
  @Field(() => String, { description: 'For example payment.charged.v1.' })
  name: string;

  @Field(() => String, { description: 'Slug of the owning service.' })
  owner: string;

  @Field(() => [String], { description: 'Services that may emit it, the owner first.' })
  emitters: string[];

  @Field(() => String, { description: 'When it is emitted.' })
  description: string;

  @Field(() => EventUserRule)
  userRule: EventUserRule;

  @Field(() => String, { nullable: true, description: 'User scope for webhook delivery; null: it never leaves the platform.' })
  scope: string | null;

  @Field(() => Boolean, { description: 'The scope is of health data: a third-party client needs an agreement.' })
  sensitive: boolean;

  @Field(() => Int, { description: 'Schema revision.' })
  revision: number;

  @Field(() => JSONObject, { description: 'JSON Schema 2020-12 of the whole envelope.' })
  jsonSchema: object;

  @Field(() => JSONObject, { description: 'A valid envelope.' })
  example: object;

  @Field(() => DateTime, { nullable: true })
  deprecatedAt: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it is emitted no more.' })
  sunsetAt: Date | null;

  @Field(() => String, { nullable: true })
  replacedBy: string | null;
}

export const EventTypeConnection = connectionOf(EventType, 'EventType');
