import { PrimaryKeyProp } from '@mikro-orm/postgresql';
import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { registerEnums } from '../../../runtime/schema/enums.js';

export enum OmissionReason {
  PERSONAL = 'personal',
  HEALTH = 'health',
  SECRET = 'secret',
  FREE_TEXT = 'free_text',
}
registerEnums({ OmissionReason });

@ObjectType({ description: 'A column that a safe view leaves out, and why.' })
export class OmittedColumn {
  @Field(() => String)
  column: string;

  @Field(() => OmissionReason)
  reason: OmissionReason;
}

/** What the read-only role sees of a table. Source: platform 2, rule 11. */
@Access({ service: 'admin:platform', staff: 'admin:platform:read' })
@Directive('@key(fields: "schema view")')
@ObjectType({ description: 'What the read-only role sees of a table, as compared with the marks of its columns.' })
@Entity({ tableName: 'safe_view' })
export class SafeView {
  [PrimaryKeyProp]?: ['schema', 'view'];

  @Field(() => String)
  @PrimaryKey({ type: 'text' })
  schema: string;

  @Field(() => String)
  @PrimaryKey({ type: 'text' })
  view: string;

  @Field(() => [String])
  @Property({ type: 'array' })
  columns: string[];

  @Field(() => [OmittedColumn])
  @Property({ type: 'json' })
  omitted: OmittedColumn[];

  /** What is wrong with it. */
  @Field(() => [String], { description: 'What is wrong with it; empty where nothing is.' })
  @Property({ type: 'json' })
  drift: string[];

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  checkedAt: Date;
}
