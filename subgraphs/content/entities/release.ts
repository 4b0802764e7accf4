import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { FREE_TEXT } from '../../../runtime/data/safe-views.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { ContentReleaseStatus } from './enums.js';

@ObjectType({ description: 'A pinned revision of a release.' })
export class ContentReleaseItem {
  @Field(() => ID)
  itemId: string;

  @Field(() => Int)
  revision: number;

  @Field(() => [String], { nullable: true })
  locales: string[] | null;

  @Field(() => String, { nullable: true, description: 'Why it could not be published.' })
  reason: string | null;

  @Field(() => Boolean, { description: 'The item was edited after it was pinned.' })
  stale: boolean;
}

/** Items that are published together. Source: content 3. */
@Access({ service: 'admin:content', staff: 'admin:content:read' })
@Directive('@key(fields: "id")')
@ObjectType({ description: 'Items that are published together, all or none.' })
@Entity({ tableName: 'content_release' })
export class ContentRelease {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string;

  @Field(() => String)
  @Property({ type: 'text', comment: FREE_TEXT })
  name: string;

  @Field(() => ContentReleaseStatus)
  @Property({ type: 'text' })
  status: ContentReleaseStatus;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', nullable: true, columnType: 'timestamptz(3)' })
  publishAt: Date | null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', nullable: true, columnType: 'timestamptz(3)' })
  publishedAt: Date | null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', columnType: 'timestamptz(3)' })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number = 1;
}
