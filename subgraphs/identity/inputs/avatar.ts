import { Field, InputType } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { Url } from '../../../runtime/schema/scalars.js';

@InputType({ description: 'A new picture, from an address or as bytes; a url that is null removes the present one.' })
export class SetMyAvatarInput {
  @Field(() => Url, { nullable: true, description: 'https on port 443; fetched now, at most 5 MiB.' })
  url?: URL | string | null;

  @Rule({ maxLength: 6_990_508 })
  @Field(() => String, { nullable: true, description: 'JPEG, PNG, WebP, GIF or AVIF of at most 5 MiB, base64.' })
  file?: string | null;
}
