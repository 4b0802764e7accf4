import { Entity, Enum, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, Url } from '../../../runtime/schema/scalars.js';
import { User } from './user.js';

export enum BadgeTier {
  BRONZE = 'bronze',
  SILVER = 'silver',
  GOLD = 'gold',
  NONE = 'none',
}

export enum UserBadgeSource {
  MILESTONE = 'milestone',
  MEMBERSHIP = 'membership',
  STAFF = 'staff',
  SYSTEM = 'system',
}
registerEnums({ BadgeTier, UserBadgeSource }, { UserBadgeSource: 'What a badge was given for.' });

@Access({ service: '*', user: '*' })
@Directive('@key(fields: "key")')
@ObjectType({ description: 'A mark of honour that profiles show.' })
@Entity({ tableName: 'badge' })
export class Badge {
  @Field(() => String)
  @PrimaryKey({ type: 'text' })
  key: string;

  @Field(() => String)
  @Property({ type: 'text' })
  name: string;

  @Field(() => String)
  @Property({ type: 'text' })
  description: string;

  @Field(() => Url, { nullable: true })
  @Property({ type: 'text', nullable: true })
  iconUrl: string | null = null;

  @Field(() => BadgeTier)
  @Enum({ items: () => BadgeTier, type: 'text', default: BadgeTier.NONE })
  tier: BadgeTier = BadgeTier.NONE;
}

@Access({ service: '*', user: '*' })
@ObjectType({ description: 'A badge that a user bears.' })
@Entity({ tableName: 'user_badge' })
export class UserBadge {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @ManyToOne({ entity: () => User, mapToPk: true, fieldName: 'user_id' })
  userId: string;

  @Field(() => Badge)
  @ManyToOne({ entity: () => Badge, fieldName: 'badge_key' })
  badge: Badge;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  awardedAt: Date;

  @Field(() => UserBadgeSource)
  @Enum({ items: () => UserBadgeSource, type: 'text' })
  source: UserBadgeSource;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;
}
