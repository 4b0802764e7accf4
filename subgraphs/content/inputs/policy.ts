import { ArgsType, Field, InputType, Int } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { PageArgs } from '../../../runtime/request/paging.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { fieldEnum } from '../entities/enums.js';
import { policies } from '../entities/editorial.js';
import { RichTextInput } from './collection.js';

const SLUG = { pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 96 };
const { kind } = policies.fields;
const KIND = kind!.kind === 'enum' ? fieldEnum(kind!.name, kind!.values) : {};

@InputType()
export class PutContentPolicyInput {
  @Rule(SLUG)
  @Field(() => String)
  slug: string;

  @Field(() => KIND)
  kind: string;

  @Rule({ minLength: 1, maxLength: 200 })
  @Field(() => String)
  title: string;

  @Field(() => RichTextInput)
  body: RichTextInput;

  @Field(() => DateTime, { nullable: true, description: 'Default now; at most a year ahead.' })
  effectiveAt?: Date | null;

  @Rule({ maxLength: 2000 })
  @Field(() => String, { nullable: true })
  summaryOfChanges?: string | null;

  @Field(() => Boolean)
  requiresAcceptance: boolean;

  @Rule({ min: 0 })
  @Field(() => Int, { nullable: true, description: 'Newest version that the author knows; another one is a conflict.' })
  baseVersion?: number | null;
}

@InputType()
export class AcceptPolicyInput {
  @Rule(SLUG)
  @Field(() => String)
  slug: string;

  @Rule({ min: 1 })
  @Field(() => Int)
  version: number;
}

@ArgsType()
export class PolicyAcceptancesArgs extends PageArgs {
  @Rule(SLUG)
  @Field(() => String)
  slug: string;

  @Rule({ min: 1 })
  @Field(() => Int)
  version: number;
}
