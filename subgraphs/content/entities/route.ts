import { Field, ObjectType } from 'type-graphql';

@ObjectType({ description: 'Where a storefront shows what.' })
export class ContentRoute {
  @Field(() => String, { description: 'A collection, PRODUCT or LIVE_SESSION.' })
  target: string;

  @Field(() => String, { description: "Path with `:slug` or `:id`; `*` is a page's own path." })
  template: string;
}
