import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** A person's account, of identity; this service adds `workflowRuns`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class User {
  @Field(() => ID)
  id: string;
}

/** A result beyond a critical limit, of clinical; this service adds `workflowRun`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class CriticalAlert {
  @Field(() => ID)
  id: string;
}

/** A tick of the loop, of intelligence; this service adds `workflowRun`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class LoopTick {
  @Field(() => ID)
  id: string;
}
