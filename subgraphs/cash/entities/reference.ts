import { Field, ID, ObjectType } from 'type-graphql';

@ObjectType({ description: 'What cash was given, held or spent for.' })
export class CashReference {
  @Field(() => String)
  type: string;

  @Field(() => ID)
  id: string;

  @Field(() => String, { description: 'Tells grants of one reference apart; mostly empty.' })
  key: string;
}
