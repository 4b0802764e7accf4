import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { addConsultAddendum, cancelConsult, requestConsult, signConsult, signFacts, updateConsult } from '../commands/consult.js';
import { Consult, CONSULT_READERS, ConsultConnection } from '../entities/consult.js';
import { visibleRows } from '../entities/value-access.js';
import {
  AddConsultAddendumInput,
  ConsultsArgs,
  MyConsultsArgs,
  RequestConsultInput,
  SignConsultInput,
  UpdateConsultInput,
} from '../inputs/consult.js';
import { among, given } from '../queries/conditions.js';
import { readPage, readRow } from '../queries/read-audit.js';
import { listConsults } from '../queries/user-clinical.js';

@Resolver(() => Consult)
export class ConsultResolver {
  @Access({ user: 'read:clinical' })
  @Query(() => ConsultConnection, { description: 'Own consults, newest first.' })
  myConsults(@Args(() => MyConsultsArgs) args: MyConsultsArgs, @Ctx() ctx: Context): Promise<Connection<Consult>> {
    return listConsults(ctx, ctx.caller.userId!, args);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:consults' })
  @Query(() => ConsultConnection, { description: 'Consults, newest first.' })
  consults(@Args(() => ConsultsArgs) { userId, status, ...paging }: ConsultsArgs, @Ctx() ctx: Context): Promise<Connection<Consult>> {
    return readPage(ctx, 'consults', Consult, given({ patientId: userId, status: among(status) }), paging, 'createdAt');
  }

  @Access({ ...CONSULT_READERS, user: 'read:clinical' })
  @Query(() => Consult, { nullable: true, description: 'One consult; payments and workflow see its state and outcome.' })
  consult(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Consult | null> {
    return readRow(ctx, 'consults', Consult, { id, ...visibleRows(ctx.caller, CONSULT_READERS.staff) });
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:consults', user: 'write:clinical', self: true })
  @Mutation(() => Consult, { description: 'Asks for a consult.' })
  requestConsult(@Arg('input', () => RequestConsultInput) input: RequestConsultInput, @Ctx() ctx: Context): Promise<Consult> {
    return requestConsult(ctx, input);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:consults' })
  @Mutation(() => Consult, { description: 'Changes a consult that is not signed.' })
  updateConsult(@Arg('input', () => UpdateConsultInput) input: UpdateConsultInput, @Ctx() ctx: Context): Promise<Consult> {
    return updateConsult(ctx, input);
  }

  @Access({ staff: 'admin:clinical:consults' })
  @Prepare(signFacts)
  @Mutation(() => Consult, { description: 'Signs a consult; only its own clinician can. What waits for it goes on or ends.' })
  signConsult(@Arg('input', () => SignConsultInput) input: SignConsultInput, @Ctx() ctx: Context): Promise<Consult> {
    return signConsult(ctx, input, signFacts.of(ctx));
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:consults' })
  @Mutation(() => Consult, { description: 'Adds to a signed consult, which itself never changes.' })
  addConsultAddendum(@Arg('input', () => AddConsultAddendumInput) input: AddConsultAddendumInput, @Ctx() ctx: Context): Promise<Consult> {
    return addConsultAddendum(ctx, input);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:consults', user: 'write:clinical' })
  @Mutation(() => Consult, { description: 'Cancels a consult that is not signed.' })
  cancelConsult(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Consult> {
    return cancelConsult(ctx, id);
  }
}
