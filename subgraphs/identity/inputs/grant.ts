import { Field, ID, InputType, Int } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';

@InputType({ description: 'One app used one scope for one user.' })
export class ScopeUseInput {
  @Field(() => ID)
  clientId: string;

  @Field(() => ID)
  userId: string;

  @Rule({ maxLength: 64 })
  @Field(() => String)
  scope: string;

  @Rule({ min: 0, max: 86_400 })
  @Field(() => Int, { description: 'Seconds since the last use; an age, so that two clocks need not agree.' })
  secondsAgo: number;
}

@InputType({ description: 'Uses that a gateway has seen since its last report.' })
export class ReportScopeUseInput {
  @Rule({ minItems: 1, maxItems: 1000 })
  @Field(() => [ScopeUseInput])
  uses: ScopeUseInput[];
}

@InputType({ description: 'A scope to take back from an app that keeps its others.' })
export class WithdrawScopeInput {
  @Field(() => ID)
  clientId: string;

  @Rule({ maxLength: 64 })
  @Field(() => String)
  scope: string;
}
