import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { endAgreement, setAgreement } from '../commands/client-agreement.js';
import { rotateSecret } from '../commands/client-secret.js';
import { createClient, deleteClient, updateClient } from '../commands/client.js';
import { OAuthClientAgreement } from '../entities/client-agreement.js';
import { RotatedOAuthClientSecret } from '../entities/client-secret.js';
import { OAuthClient, OAuthClientConnection } from '../entities/client.js';
import {
  CreateOAuthClientInput,
  OAuthClientListArgs,
  RotateOAuthClientSecretInput,
  SetClientAgreementInput,
  UpdateOAuthClientInput,
} from '../inputs/client.js';
import { listClients } from '../queries/client.js';

const CLIENTS = { service: 'admin:identity', staff: 'admin:identity:clients' } as const;
const AGREES = { service: 'admin:identity', staff: 'admin:identity' } as const;

@Resolver()
export class ClientAdministrationResolver {
  @Access(CLIENTS)
  @Query(() => OAuthClientConnection, { description: 'OAuth clients by client_id; deleted ones only when asked for.' })
  oauthClients(@Args(() => OAuthClientListArgs) args: OAuthClientListArgs, @Ctx() ctx: Context): Promise<Connection<OAuthClient>> {
    return listClients(ctx, args);
  }

  @Access(CLIENTS)
  @Mutation(() => OAuthClient, { description: 'Registers a client; its secret is in this answer only.' })
  createOAuthClient(@Arg('input', () => CreateOAuthClientInput) input: CreateOAuthClientInput, @Ctx() ctx: Context): Promise<OAuthClient> {
    return createClient(ctx, input);
  }

  @Access(CLIENTS)
  @Mutation(() => OAuthClient, { description: 'Changes a client; sign-ins that hold what it may no longer hold end.' })
  updateOAuthClient(@Arg('input', () => UpdateOAuthClientInput) input: UpdateOAuthClientInput, @Ctx() ctx: Context): Promise<OAuthClient> {
    return updateClient(ctx, input);
  }

  @Access(CLIENTS)
  @Mutation(() => OAuthClient, { description: 'Deletes a client: consents to it end, all its tokens die, the row stays for the record.' })
  deleteOAuthClient(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<OAuthClient> {
    return deleteClient(ctx, id);
  }

  @Access(CLIENTS)
  @Mutation(() => RotatedOAuthClientSecret, { description: 'Gives a client a new secret; the tokens of the old one die with it.' })
  rotateOAuthClientSecret(
    @Arg('input', () => RotateOAuthClientSecretInput) input: RotateOAuthClientSecretInput,
    @Ctx() ctx: Context,
  ): Promise<RotatedOAuthClientSecret> {
    return rotateSecret(ctx, input);
  }

  @Access(AGREES)
  @Mutation(() => OAuthClientAgreement, { description: 'Lets an app of somebody else hold health-data scopes.' })
  setClientAgreement(
    @Arg('input', () => SetClientAgreementInput) input: SetClientAgreementInput,
    @Ctx() ctx: Context,
  ): Promise<OAuthClientAgreement> {
    return setAgreement(ctx, input);
  }

  @Access(AGREES)
  @Mutation(() => OAuthClientAgreement, { description: 'Ends an agreement: its scopes stop at once, consents are kept.' })
  endClientAgreement(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<OAuthClientAgreement> {
    return endAgreement(ctx, id);
  }
}
