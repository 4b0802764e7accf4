import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { PageArgs } from '../../../runtime/request/paging.js';
import { NOT_BLANK, Rule, UUID } from '../../../runtime/schema/constraints.js';
import { CurrencyCode, DateTime, SafeInt } from '../../../runtime/schema/scalars.js';
import { EntryDirection, LedgerAccountStatus, LedgerAccountType } from '../entities/enums.js';

const NAME = { maxLength: 120, pattern: NOT_BLANK } as const;

@ArgsType()
export class LedgerAccountsArgs extends PageArgs {
  @Rule({ maxLength: 200 })
  @Field(() => String, { nullable: true, description: 'Beginning of the code.' })
  code?: string | null;

  @Field(() => LedgerAccountType, { nullable: true })
  type?: LedgerAccountType | null;

  @Field(() => LedgerAccountStatus, { nullable: true })
  status?: LedgerAccountStatus | null;

  @Field(() => CurrencyCode, { nullable: true })
  currency?: string | null;

  @Rule({ pattern: UUID })
  @Field(() => ID, { nullable: true })
  userId?: string | null;
}

@InputType()
export class OpenLedgerAccountInput {
  @Rule({ maxLength: 200, pattern: '^[a-z0-9_.-]+(:[a-z0-9_.-]+)*:[a-z]{3}$' })
  @Field(() => String, { description: 'Segments with colons between them; the last is the currency.' })
  code: string;

  @Rule(NAME)
  @Field(() => String)
  name: string;

  @Field(() => LedgerAccountType)
  type: LedgerAccountType;

  @Field(() => EntryDirection, { nullable: true, description: 'Default: that of the type.' })
  normalSide?: EntryDirection | null;

  @Field(() => SafeInt, { nullable: true, description: 'Lowest balance; left out: none.' })
  floor?: number | null;
}

@InputType()
export class UpdateLedgerAccountInput {
  @Field(() => ID)
  id: string;

  @Rule(NAME)
  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => LedgerAccountStatus, { nullable: true })
  status?: LedgerAccountStatus | null;

  @Field(() => SafeInt, { nullable: true, description: 'Null: none.' })
  floor?: number | null;
}

@ArgsType()
export class EntriesArgs extends PageArgs {
  @Field(() => DateTime, { nullable: true, description: 'Effective since.' })
  from?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'Effective before.' })
  to?: Date | null;
}
