import { Field, ID, InputType, Int } from 'type-graphql';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';

@InputType()
export class CreateMediaUploadInput {
  @Rule({ minLength: 1, maxLength: 255 })
  @Field(() => String, { description: 'For people; never a path.' })
  filename: string;

  @Rule({ min: 1 })
  @Field(() => Int)
  bytes: number;

  @Rule({ maxLength: 127 })
  @Field(() => String)
  mimeType: string;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  brandId?: string | null;
}
