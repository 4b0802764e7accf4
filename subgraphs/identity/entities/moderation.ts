import { Entity, Enum, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { User, UserStatus } from './user.js';

export enum ModerationActionKind {
  BAN = 'ban',
  SUSPEND = 'suspend',
  REINSTATE = 'reinstate',
}

export enum ModerationActionReasonCode {
  SPAM = 'spam',
  ABUSE = 'abuse',
  FRAUD = 'fraud',
  SAFETY = 'safety',
  CHARGEBACK = 'chargeback',
  LEGAL = 'legal',
  OTHER = 'other',
}
registerEnums({ ModerationActionKind, ModerationActionReasonCode });

/** What was done to an account. The ban or suspension without an end is the one that stands. */
@Access({ service: 'admin:identity', staff: 'admin:identity:moderate' })
@ObjectType({ description: 'What was done to an account.' })
@Entity({ tableName: 'moderation_action' })
export class ModerationAction {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @ManyToOne({ entity: () => User, mapToPk: true, fieldName: 'user_id' })
  userId: string;

  @Field(() => ModerationActionKind)
  @Enum({ items: () => ModerationActionKind, type: 'text' })
  kind: ModerationActionKind;

  @Field(() => ModerationActionReasonCode)
  @Enum({ items: () => ModerationActionReasonCode, type: 'text' })
  reasonCode: ModerationActionReasonCode;

  @Field(() => String, { nullable: true, description: 'For staff only.' })
  @Property({ type: 'text', nullable: true })
  note: string | null = null;

  @Field(() => DateTime, { nullable: true, description: 'End of a suspension.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  until: Date | null = null;

  @Field(() => String, { description: '`staff:<id>`, `service:<client>` or `system:identity`.' })
  @Property({ type: 'text' })
  actor: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  at: Date;

  @Property({ type: 'datetime', length: 3, nullable: true })
  endedAt: Date | null = null;
}

/** Whether an account may be used, and what was done to it. */
@Access({ service: 'admin:identity', user: 'read:profile|read:account', staff: 'admin:identity:moderate' })
@ObjectType({ description: 'Whether an account may be used; the user sees status, end and reason.' })
export class UserModeration {
  userId: string;

  @Field(() => UserStatus)
  status: UserStatus;

  @Field(() => DateTime, { nullable: true, description: 'Since when it is banned or suspended.' })
  since: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'End of a suspension.' })
  until: Date | null;

  @Field(() => ModerationActionReasonCode, { nullable: true })
  reasonCode: ModerationActionReasonCode | null;

  @Access({ service: 'admin:identity', staff: 'admin:identity:moderate' })
  @Field(() => [ModerationAction], { description: 'Newest first, up to 100.' })
  history: ModerationAction[];
}
