import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { PERSONAL } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, Locale } from '../../../runtime/schema/scalars.js';
import { User } from '../stubs.js';
import { RichText } from './item.js';

/** One text of a policy; never changed, never deleted. */
@ObjectType({ description: 'One text of a policy; never changed, never deleted.' })
export class PolicyVersion {
  @Field(() => Int)
  version: number;

  @Field(() => String)
  title: string;

  @Field(() => RichText)
  body: RichText;

  @Field(() => String, { description: 'SHA-256 of the text, which an acceptance keeps.' })
  bodySha256: string;

  @Field(() => String, { nullable: true })
  summaryOfChanges: string | null;

  @Field(() => DateTime)
  effectiveAt: Date;

  @Field(() => Boolean)
  requiresAcceptance: boolean;

  @Field(() => User, { nullable: true, description: 'For editors.' })
  publishedBy: User | null;
}

/** Who accepted which text, as evidence. Append-only. Source: content 2.4. */
@Access({ service: 'admin:content', user: 'read:account', staff: 'admin:content:read' })
@Directive('@key(fields: "id")')
@ObjectType({ description: 'Who accepted which text of a policy, as evidence.' })
@Entity({ tableName: 'policy_acceptance' })
export class PolicyAcceptance {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string;

  @Property({ type: 'uuid', comment: PERSONAL })
  userId: string;

  @Field(() => User)
  get user(): User {
    return Object.assign(new User(), { id: this.userId });
  }

  @Property({ type: 'uuid' })
  itemId: string;

  @Field(() => String, { description: 'Slug of the policy.' })
  @Property({ type: 'text' })
  slug: string;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number;

  @Field(() => DateTime)
  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  acceptedAt: Date;

  @Field(() => String, { description: 'App in which it was accepted.' })
  @Property({ type: 'text', comment: PERSONAL })
  clientId: string;

  @Field(() => Locale)
  @Property({ type: 'text' })
  locale: string;

  @Field(() => String)
  @Property({ type: 'text' })
  bodySha256: string;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', nullable: true, columnType: 'timestamptz(3)' })
  withdrawnAt: Date | null;
}

export const PolicyAcceptanceConnection = connectionOf(PolicyAcceptance, 'PolicyAcceptance');
