import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { JSONObject, Locale } from '../../../runtime/schema/scalars.js';
import { CommsChannel, CommsTemplateAudience } from '../entities/enums.js';

const CODE = '^[a-z][a-z0-9_]{0,63}$';

@ArgsType()
export class CommsTemplatesArgs extends PageArgs {
  @Rule({ pattern: CODE })
  @Field(() => String, { nullable: true })
  key?: string | null;

  @Rule({ pattern: CODE })
  @Field(() => String, { nullable: true })
  topic?: string | null;
}

@InputType()
export class CreateCommsTemplateInput {
  @Rule({ pattern: CODE })
  @Field(() => String)
  key: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  brandId?: string | null;

  @Rule({ pattern: CODE })
  @Field(() => String)
  topic: string;

  @Rule({ object: true })
  @Field(() => JSONObject)
  variables: Record<string, unknown>;

  @Rule({ object: true })
  @Field(() => JSONObject)
  example: Record<string, unknown>;

  @Field(() => CommsTemplateAudience, { defaultValue: CommsTemplateAudience.USER })
  audience: CommsTemplateAudience = CommsTemplateAudience.USER;
}

@InputType()
export class UpdateCommsTemplateInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true })
  variables?: Record<string, unknown> | null;

  @Rule({ object: true })
  @Field(() => JSONObject, { nullable: true })
  example?: Record<string, unknown> | null;
}

@InputType()
export class AddCommsTemplateVersionInput {
  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;

  @Field(() => CommsChannel)
  channel: CommsChannel;

  @Field(() => Locale)
  locale: string;

  @Rule({ maxLength: 400 })
  @Field(() => String, { nullable: true })
  subject?: string | null;

  @Rule({ maxLength: 400 })
  @Field(() => String, { nullable: true })
  preheader?: string | null;

  @Rule({ maxLength: 204_800 })
  @Field(() => String, { nullable: true })
  mjml?: string | null;

  @Rule({ maxLength: 20_000 })
  @Field(() => String, { nullable: true })
  text?: string | null;

  @Rule({ maxLength: 400 })
  @Field(() => String, { nullable: true })
  title?: string | null;

  @Rule({ maxLength: 2000 })
  @Field(() => String, { nullable: true })
  body?: string | null;

  @Rule({ maxLength: 512 })
  @Field(() => String, { nullable: true })
  deepLink?: string | null;

  @Rule({ maxLength: 240 })
  @Field(() => String, { nullable: true })
  lockScreenBody?: string | null;

  @Rule({ maxLength: 120 })
  @Field(() => String, { nullable: true })
  why?: string | null;
}

@InputType()
export class PreviewCommsTemplateInput {
  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  id?: string | null;

  @Rule({ pattern: CODE })
  @Field(() => String, { nullable: true, description: 'In place of the id: the template that all brands share.' })
  key?: string | null;

  @Field(() => CommsChannel)
  channel: CommsChannel;

  @Field(() => Locale, { defaultValue: 'en' })
  locale: string = 'en';
}
