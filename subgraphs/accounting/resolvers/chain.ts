import { Arg, Args, Ctx, ID, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { PROOF_READERS, READERS } from '../entities/access.js';
import {
  LedgerChainBlock,
  LedgerChainKey,
  LedgerChainVerification,
  LedgerInclusionProof,
  LedgerSignedHead,
  LedgerSignedHeadConnection,
} from '../entities/chain.js';
import { SignedHeadsArgs, VerifyChainArgs } from '../inputs/report.js';
import { chainKeys, headsPage, lastBlock, shownBlock } from '../queries/chain.js';
import { inclusionProof } from '../queries/proof.js';
import { verifyChain } from '../queries/verification.js';

@Resolver()
export class ChainResolver {
  @Access(READERS)
  @Query(() => LedgerChainBlock, { nullable: true, description: 'The last block; null before the first.' })
  async ledgerChainHead(@Ctx() ctx: Context): Promise<LedgerChainBlock | null> {
    const block = await lastBlock(ctx);
    return block && shownBlock(block);
  }

  @Access(READERS)
  @Query(() => LedgerChainVerification, {
    description: 'Recomputes hashes from rows, and compares them with the signed heads of table and file.',
  })
  verifyLedgerChain(@Args(() => VerifyChainArgs) { from, to }: VerifyChainArgs, @Ctx() ctx: Context): Promise<LedgerChainVerification> {
    return verifyChain(ctx, from ?? null, to ?? null);
  }

  @Access({ public: true })
  @Query(() => LedgerSignedHeadConnection, { description: 'Signed heads, oldest first.' })
  ledgerChainHeads(@Args(() => SignedHeadsArgs) args: SignedHeadsArgs, @Ctx() ctx: Context): Promise<Connection<LedgerSignedHead>> {
    return headsPage(ctx, args);
  }

  @Access({ public: true })
  @Query(() => [LedgerChainKey], { description: 'Public keys, past ones too.' })
  ledgerChainKeys(@Ctx() ctx: Context): Promise<LedgerChainKey[]> {
    return chainKeys(ctx);
  }

  @Access(PROOF_READERS)
  @Query(() => LedgerInclusionProof, { description: 'The receipt of a transaction, to staff and to owners of a wallet in it.' })
  ledgerInclusionProof(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LedgerInclusionProof> {
    return inclusionProof(ctx, id);
  }
}
