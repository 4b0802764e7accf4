import { Field, ID, InputType } from 'type-graphql';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { MoneyInput } from '../../../runtime/schema/scalars.js';
import { PriceSubjectKind } from '../entities/enums.js';

/** As in events. */
export const CODE = '^[a-z0-9][a-z0-9_.:-]{0,63}$';

@InputType({ description: 'What cash is held or spent for: of a checkout the obligation, that is checkout, order or invoice with its id.' })
export class CashReferenceInput {
  @Rule({ pattern: CODE })
  @Field(() => String)
  type: string;

  @Rule({ pattern: UUID })
  @Field(() => ID)
  id: string;
}

@InputType({ description: 'What cash is to settle a part of.' })
export class CashPurchaseInput {
  @Field(() => MoneyInput)
  subtotal: MoneyInput;

  @Rule({ maxItems: 4 })
  @Field(() => [PriceSubjectKind], { description: 'Of all that is bought.' })
  subjectKinds: PriceSubjectKind[];
}
