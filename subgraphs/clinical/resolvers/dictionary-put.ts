import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { putBiomarker, putProtocol } from '../commands/dictionary.js';
import { Biomarker } from '../entities/biomarker.js';
import { Protocol } from '../entities/protocol.js';
import { PutBiomarkerInput } from '../inputs/biomarker.js';
import { PutProtocolInput } from '../inputs/protocol.js';

@Resolver()
export class DictionaryPutResolver {
  @Access({ service: 'admin:clinical', staff: 'admin:clinical:dictionary' })
  @Mutation(() => Biomarker, { description: 'Puts the next version of a dictionary entry; results keep the version that judged them.' })
  putBiomarker(@Arg('input', () => PutBiomarkerInput) input: PutBiomarkerInput, @Ctx() ctx: Context): Promise<Biomarker> {
    return putBiomarker(ctx, input);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:dictionary' })
  @Mutation(() => Protocol, { description: 'Puts the next version of a protocol; what runs keeps its version.' })
  putProtocol(@Arg('input', () => PutProtocolInput) input: PutProtocolInput, @Ctx() ctx: Context): Promise<Protocol> {
    return putProtocol(ctx, input);
  }
}
