import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ObjectType, registerEnumType } from 'type-graphql';
import { Access } from '../../../runtime/access.js';

export enum PlatformServiceMaturity {
  STABLE = 'stable',
  BETA = 'beta',
  PREVIEW = 'preview',
}
registerEnumType(PlatformServiceMaturity, { name: 'PlatformServiceMaturity' });

/** One of the 28 services. Source: platform 2 and 4.3. */
@Access({ service: '*', user: '*' })
@Directive('@key(fields: "slug")')
@ObjectType({ description: 'A service of the suite.' })
@Entity({ tableName: 'service' })
export class PlatformService {
  @Field(() => String)
  @PrimaryKey({ type: 'text' })
  slug: string;

  @Field(() => String)
  @Property({ type: 'text' })
  name: string;

  @Field(() => String)
  @Property({ type: 'text' })
  purpose: string;

  @Field(() => PlatformServiceMaturity, { nullable: true, description: 'Null where the specification states none.' })
  @Enum({ items: () => PlatformServiceMaturity, nullable: true })
  maturity: PlatformServiceMaturity | null;

  @Field(() => Boolean, { nullable: true, description: 'Null where the specification states none.' })
  @Property({ type: 'boolean', nullable: true })
  productionReady: boolean | null;

  @Field(() => Boolean, { description: 'The suite fails when it is down.' })
  @Property({ type: 'boolean' })
  critical: boolean;
}
