import { ArgsType, Field } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { Locale } from '../../../runtime/schema/scalars.js';
import { ContentBodyFormat, ContentOrder, ContentSort, ContentStatusFilter } from '../entities/enums.js';

/** For whom and in which language something is read. Source: content 4.3. */
@ArgsType()
export class ReadArgs {
  @Field(() => Locale, { nullable: true, description: "Default: negotiated by Accept-Language among the brand's locales." })
  locale?: string | null;

  @Field(() => Boolean, { defaultValue: true, description: 'Whether another locale is given where the asked one is not published.' })
  fallback: boolean = true;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true, description: "Slug of a brand; default the token's, else the default brand." })
  brand?: string | null;

  @Field(() => ContentBodyFormat, { nullable: true, description: 'Forms of rich texts; default HTML for one item, NONE in lists.' })
  bodyFormat?: ContentBodyFormat | null;
}

@ArgsType()
export class ListArgs extends PageArgs {
  @Field(() => Locale, { nullable: true, description: "Default: negotiated by Accept-Language among the brand's locales." })
  locale?: string | null;

  @Field(() => Boolean, { defaultValue: true, description: 'Whether another locale is given where the asked one is not published.' })
  fallback: boolean = true;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true, description: "Slug of a brand; default the token's, else the default brand." })
  brand?: string | null;

  @Field(() => ContentBodyFormat, { nullable: true, description: 'Forms of rich texts; default NONE.' })
  bodyFormat?: ContentBodyFormat | null;

  @Field(() => ContentStatusFilter, { nullable: true, description: 'For editors; default PUBLISHED.' })
  status?: ContentStatusFilter | null;

  @Field(() => ContentSort, { nullable: true })
  sort?: ContentSort | null;

  @Field(() => ContentOrder, { nullable: true })
  order?: ContentOrder | null;
}
