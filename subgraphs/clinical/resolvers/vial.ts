import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { type Connection, page, PageArgs } from '../../../runtime/request/paging.js';
import { createVial, discardVial, reconstituteVial } from '../commands/vial.js';
import { Vial, VialConnection } from '../entities/vial.js';
import { CreateVialInput, DiscardVialInput, ReconstituteVialInput, VialsArgs } from '../inputs/vial.js';

@Resolver(() => Vial)
export class VialResolver {
  @Access({ user: 'read:protocols' })
  @Query(() => VialConnection, { description: 'Own vials, newest first.' })
  myVials(@Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<Vial>> {
    return page(ctx.em, Vial, { patientId: ctx.caller.userId! }, args, { time: 'createdAt' });
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:protocols', internal: ['patient-graph'] })
  @Query(() => VialConnection, { description: "A patient's vials, newest first." })
  vials(@Args(() => VialsArgs) { userId, ...paging }: VialsArgs, @Ctx() ctx: Context): Promise<Connection<Vial>> {
    return page(ctx.em, Vial, { patientId: userId }, paging, { time: 'createdAt' });
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:protocols', user: 'write:protocols', self: true })
  @Mutation(() => Vial, { description: 'Registers a vial.' })
  createVial(@Arg('input', () => CreateVialInput) input: CreateVialInput, @Ctx() ctx: Context): Promise<Vial> {
    return createVial(ctx, input);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:protocols', user: 'write:protocols' })
  @Mutation(() => Vial, { description: 'A new vial is in use from now on.' })
  reconstituteVial(@Arg('input', () => ReconstituteVialInput) input: ReconstituteVialInput, @Ctx() ctx: Context): Promise<Vial> {
    return reconstituteVial(ctx, input);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:protocols', user: 'write:protocols' })
  @Mutation(() => Vial, { description: 'Discards a vial.' })
  discardVial(@Arg('input', () => DiscardVialInput) input: DiscardVialInput, @Ctx() ctx: Context): Promise<Vial> {
    return discardVial(ctx, input);
  }
}
