import { Field, InputType } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { PushPlatform } from '../entities/enums.js';

@InputType()
export class PushKeysInput {
  @Rule({ pattern: '^[A-Za-z0-9_-]{80,100}$' })
  @Field(() => String)
  p256dh: string;

  @Rule({ pattern: '^[A-Za-z0-9_-]{20,30}$' })
  @Field(() => String)
  auth: string;
}

@InputType()
export class RegisterPushSubscriptionInput {
  @Field(() => PushPlatform)
  platform: PushPlatform;

  @Rule({ maxLength: 2048 })
  @Field(() => String, { nullable: true, description: 'Of a browser: an https address.' })
  endpoint?: string | null;

  @Field(() => PushKeysInput, { nullable: true, description: 'Of a browser.' })
  keys?: PushKeysInput | null;

  @Rule({ maxLength: 4096 })
  @Field(() => String, { nullable: true, description: 'Of a device.' })
  token?: string | null;

  @Rule({ maxLength: 80 })
  @Field(() => String, { nullable: true })
  label?: string | null;
}
