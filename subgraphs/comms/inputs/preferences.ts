import { Field, ID, InputType, Int } from 'type-graphql';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { CommsLockScreenDetail, CommsMentionDigest } from '../entities/enums.js';

const TIME = '^([01][0-9]|2[0-3]):[0-5][0-9]$';

@InputType()
export class CommsTopicChannelsInput {
  @Field(() => Boolean, { nullable: true })
  email?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  sms?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  push?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  inApp?: boolean | null;
}

@InputType()
export class CommsTopicPreferenceInput {
  @Rule({ pattern: '^[a-z][a-z0-9_]{0,63}$' })
  @Field(() => String)
  topic: string;

  @Field(() => CommsTopicChannelsInput, { nullable: true, description: 'Null takes all overrides of the topic away.' })
  channels?: CommsTopicChannelsInput | null;
}

@InputType()
export class CommsMasterSwitchesInput {
  @Field(() => Boolean, { nullable: true })
  email?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  sms?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  push?: boolean | null;
}

@InputType()
export class CommsQuietHoursInput {
  @Field(() => Boolean)
  enabled: boolean;

  @Rule({ pattern: TIME })
  @Field(() => String)
  from: string;

  @Rule({ pattern: TIME })
  @Field(() => String)
  to: string;
}

@InputType()
export class CommsDigestPreferenceInput {
  @Field(() => CommsMentionDigest, { nullable: true })
  mentions?: CommsMentionDigest | null;

  @Rule({ min: 0, max: 23 })
  @Field(() => Int, { nullable: true })
  hour?: number | null;

  @Rule({ min: 1, max: 7 })
  @Field(() => Int, { nullable: true })
  weekday?: number | null;
}

@InputType()
export class CommsSmsConsentInput {
  @Field(() => Boolean)
  granted: boolean;

  @Rule({ pattern: '^[a-z][a-z0-9_]{0,63}$' })
  @Field(() => String)
  source: string;
}

@InputType()
export class UpdateCommsPreferencesInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true, description: 'Required for service tokens.' })
  userId?: string | null;

  @Rule({ maxItems: 40 })
  @Field(() => [CommsTopicPreferenceInput], { nullable: true })
  topics?: CommsTopicPreferenceInput[] | null;

  @Field(() => CommsMasterSwitchesInput, { nullable: true })
  channels?: CommsMasterSwitchesInput | null;

  @Field(() => CommsQuietHoursInput, { nullable: true, description: 'Null: those of the brand.' })
  quietHours?: CommsQuietHoursInput | null;

  @Field(() => CommsDigestPreferenceInput, { nullable: true })
  digest?: CommsDigestPreferenceInput | null;

  @Field(() => CommsLockScreenDetail, { nullable: true })
  lockScreenDetail?: CommsLockScreenDetail | null;

  @Field(() => CommsSmsConsentInput, { nullable: true })
  smsConsent?: CommsSmsConsentInput | null;

  @Rule({ min: 0 })
  @Field(() => Int, { nullable: true, description: 'The version that is changed.' })
  version?: number | null;
}
