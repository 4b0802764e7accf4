import { Field, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, SafeInt } from '../../../runtime/schema/scalars.js';

export enum TokenRevocationKind {
  TOKEN = 'token',
  FAMILY = 'family',
  SESSION = 'session',
  SECRET = 'secret',
  CLIENT = 'client',
  USER = 'user',
}
registerEnums({ TokenRevocationKind }, { TokenRevocationKind: 'Which claim of a token the value is compared with.' });

/** One row of the feed that ends access tokens before their time. Source: identity A4. */
@Access({ internal: true })
@ObjectType({ description: 'One row of the feed that ends access tokens before their time.' })
export class TokenRevocation {
  @Field(() => Int, { description: 'Without gaps, in the order of the commits.' })
  seq: number;

  @Field(() => TokenRevocationKind)
  kind: TokenRevocationKind;

  @Field(() => String)
  value: string;

  @Field(() => SafeInt, { nullable: true, description: 'Epoch seconds, only for USER: tokens issued up to then are dead.' })
  notBefore: number | null;

  @Field(() => DateTime)
  effectiveAt: Date;

  @Field(() => DateTime, { description: 'After this the last affected token has expired.' })
  expiresAt: Date;
}
