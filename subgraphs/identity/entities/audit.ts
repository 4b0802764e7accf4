import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';

export enum IdentityAuditActorKind {
  SERVICE = 'service',
  USER = 'user',
  STAFF = 'staff',
  SYSTEM = 'system',
}
registerEnums({ IdentityAuditActorKind });

/** Who acted; of a user or staff token both the person and the app. Source: identity A10. */
@Access({ service: 'admin:identity', staff: 'admin:identity:read' })
@ObjectType({ description: 'Who acted: of a user or staff token both the person and the app.' })
export class IdentityAuditActor {
  @Field(() => IdentityAuditActorKind)
  kind: IdentityAuditActorKind;

  @Field(() => String)
  clientId: string;

  @Field(() => ID, { nullable: true })
  userId: string | null;

  @Field(() => [String], { description: 'Staff roles of the token.' })
  roles: string[];

  @Field(() => [String], { description: 'Clients that exchanged the token, outermost first.' })
  act: string[];
}

@Access({ service: 'admin:identity', staff: 'admin:identity:read' })
@ObjectType({ description: 'One row of the audit log, which is only ever added to. It holds no secret and no contact data.' })
export class IdentityAuditEntry {
  @Field(() => ID)
  id: string;

  @Field(() => DateTime)
  at: Date;

  @Field(() => String, { description: 'Thing and verb, for example `challenge.issued`.' })
  action: string;

  @Field(() => String, { nullable: true, description: 'Id of the thing.' })
  target: string | null;

  @Field(() => IdentityAuditActor)
  actor: IdentityAuditActor;

  @Field(() => String, { nullable: true })
  requestId: string | null;

  @Field(() => JSONObject)
  details: object;
}

export const IdentityAuditConnection = connectionOf(IdentityAuditEntry, 'IdentityAudit');
