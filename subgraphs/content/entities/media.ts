import { Field, ObjectType } from 'type-graphql';
import { DateTime } from '../../../runtime/schema/scalars.js';
import type { ContentItem } from './item.js';
import { typesOf } from './types.js';

@ObjectType({ description: 'Where the bytes of a file are put.' })
export class MediaUpload {
  @Field(() => typesOf('MEDIA').item)
  media: ContentItem;

  @Field(() => String, { description: 'Takes one PUT.' })
  uploadUrl: string;

  @Field(() => DateTime)
  expiresAt: Date;
}
