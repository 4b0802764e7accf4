import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Ctx, Directive, Field, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { CommsCategory, CommsChannel } from './enums.js';

/** What a message is about; everybody's switches go by it. Seeded. Source: comms 4.6. */
@Access({ service: '*', user: '*' })
@Directive('@key(fields: "key")')
@ObjectType({ description: 'What a message is about.' })
@Entity({ tableName: 'topic' })
export class CommsTopic {
  @Field(() => String)
  @PrimaryKey({ type: 'text' })
  key: string;

  /** By language. */
  @Property({ type: 'json' })
  names: Record<string, string>;

  @Property({ type: 'json' })
  descriptions: Record<string, string>;

  @Field(() => CommsCategory)
  @Enum({ items: () => CommsCategory, type: 'text' })
  category: CommsCategory;

  @Field(() => [CommsChannel])
  @Property({ type: 'array' })
  defaultChannels: CommsChannel[];

  @Field(() => [CommsChannel])
  @Property({ type: 'array' })
  allowedChannels: CommsChannel[];

  @Field(() => Boolean, { description: 'Cannot be switched off.' })
  @Property({ type: 'boolean' })
  mandatory: boolean;

  @Field(() => Boolean, { description: 'May wait for a digest.' })
  @Property({ type: 'boolean' })
  digestible: boolean;

  @Field(() => Boolean, { description: 'Ignores quiet hours.' })
  @Property({ type: 'boolean' })
  urgent: boolean;

  @Field(() => String)
  name(@Ctx() _ctx: Context): string {
    return this.names.en!;
  }

  @Field(() => String)
  description(@Ctx() _ctx: Context): string {
    return this.descriptions.en!;
  }
}
