import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject, Locale } from '../../../runtime/schema/scalars.js';
import { TEMPLATE_PREVIEWERS } from './access.js';
import { CommsChannel, CommsTemplateAudience, CommsTemplateVersionStatus } from './enums.js';

@Access(TEMPLATE_PREVIEWERS)
@ObjectType({ description: 'A text of a template by channel and language. A published one never changes.' })
@Entity({ tableName: 'template_version' })
@Unique({ name: 'template_version_number', properties: ['templateId', 'channel', 'locale', 'number'] })
@Index({ name: 'template_version_published', properties: ['templateId', 'channel', 'locale'], where: "status = 'published'" })
export class CommsTemplateVersion {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  templateId: string;

  @Field(() => CommsChannel)
  @Enum({ items: () => CommsChannel, type: 'text' })
  channel: CommsChannel;

  @Field(() => Locale)
  @Property({ type: 'text' })
  locale: string;

  @Field(() => Int)
  @Property({ type: 'integer' })
  number: number;

  @Field(() => CommsTemplateVersionStatus)
  @Enum({ items: () => CommsTemplateVersionStatus, type: 'text' })
  status: CommsTemplateVersionStatus = CommsTemplateVersionStatus.DRAFT;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  subject: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  preheader: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  mjml: string | null = null;

  /** Compiled when it was published. */
  @Property({ type: 'text', nullable: true })
  html: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  text: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  title: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  body: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  deepLink: string | null = null;

  @Field(() => String, { nullable: true, description: 'What a lock screen and an envelope may show.' })
  @Property({ type: 'text', nullable: true })
  lockScreenBody: string | null = null;

  @Field(() => String, { nullable: true, description: 'Why somebody gets it.' })
  @Property({ type: 'text', nullable: true })
  why: string | null = null;

  @Field(() => String)
  @Property({ type: 'text' })
  createdBy: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  publishedAt: Date | null = null;
}

@Access(TEMPLATE_PREVIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A message in all its channels and languages.' })
@Entity({ tableName: 'template' })
@Unique({ name: 'template_key_brand_id', properties: ['key', 'brandId'] })
@Index({ name: 'template_created_at_id', properties: ['createdAt', 'id'] })
export class CommsTemplate {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String)
  @Property({ type: 'text' })
  key: string;

  @Field(() => ID, { nullable: true, description: "A brand's own hides the shared one." })
  @Property({ type: 'uuid', nullable: true })
  brandId: string | null = null;

  @Field(() => String, { description: 'Key of its topic.' })
  @Property({ type: 'text' })
  topic: string;

  @Field(() => JSONObject, { description: 'JSON Schema of its variables, each marked plain, personal or health.' })
  @Property({ type: 'json' })
  variables: Record<string, unknown>;

  @Field(() => JSONObject, { description: 'Values with which it is shown.' })
  @Property({ type: 'json' })
  example: Record<string, unknown>;

  @Field(() => CommsTemplateAudience)
  @Enum({ items: () => CommsTemplateAudience, type: 'text' })
  audience: CommsTemplateAudience;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  archivedAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer', version: true, default: 1 })
  version: number = 1;
}

export const CommsTemplateConnection = connectionOf<CommsTemplate>(CommsTemplate, 'CommsTemplate');

@Access(TEMPLATE_PREVIEWERS)
@ObjectType({ description: 'A template filled in with its example; nothing is sent.' })
export class CommsTemplatePreview {
  @Field(() => CommsChannel)
  channel: CommsChannel;

  @Field(() => Locale)
  locale: string;

  @Field(() => String, { nullable: true })
  subject: string | null;

  @Field(() => String, { nullable: true })
  title: string | null;

  @Field(() => String, { nullable: true })
  body: string | null;

  @Field(() => String, { nullable: true })
  text: string | null;

  @Field(() => String, { nullable: true })
  html: string | null;
}
