import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, SafeInt } from '../../../runtime/schema/scalars.js';
import { PROOF_READERS, READERS } from './access.js';
import { LedgerProofSide } from './enums.js';

@Access(PROOF_READERS)
@ObjectType({ description: 'Up to 1,024 transactions, sealed; each block names the hash of the one before.' })
export class LedgerChainBlock {
  @Field(() => SafeInt)
  height: number;

  @Field(() => SafeInt)
  fromSequence: number;

  @Field(() => SafeInt)
  toSequence: number;

  @Field(() => String, { description: 'RFC 6962 root over the content hashes, hexadecimal.' })
  merkleRoot: string;

  @Field(() => String)
  previousHash: string;

  @Field(() => String, { description: 'SHA-256 of previous hash, height, from, to, root and sealedAt, hexadecimal.' })
  hash: string;

  @Field(() => DateTime)
  sealedAt: Date;
}

@ObjectType({ description: 'The last block of a minute, signed with Ed25519 over the RFC 8785 form of height, hash and sealed_at.' })
export class LedgerSignedHead {
  @Field(() => SafeInt)
  height: number;

  @Field(() => String)
  hash: string;

  @Field(() => DateTime)
  sealedAt: Date;

  @Field(() => String)
  keyId: string;

  @Field(() => String, { description: 'Base64.' })
  signature: string;
}

export const LedgerSignedHeadConnection = connectionOf<LedgerSignedHead>(LedgerSignedHead, 'LedgerSignedHead');

@ObjectType({ description: 'A key that heads are signed with.' })
export class LedgerChainKey {
  @Field(() => String)
  keyId: string;

  @Field(() => String, { description: 'Ed25519, 32 bytes, base64.' })
  publicKey: string;

  @Field(() => DateTime)
  validFrom: Date;

  @Field(() => DateTime, { nullable: true, description: 'When the next one began to sign.' })
  validTo: Date | null;
}

@Access(READERS)
@ObjectType({ description: 'What a comparison of the rows with the chain and its signed heads has found.' })
export class LedgerChainVerification {
  @Field(() => Boolean)
  ok: boolean;

  @Field(() => SafeInt)
  blocksChecked: number;

  @Field(() => SafeInt)
  transactionsChecked: number;

  @Field(() => SafeInt)
  headsChecked: number;

  @Field(() => SafeInt, { nullable: true })
  firstBadSequence: number | null;

  @Field(() => String, {
    nullable: true,
    description:
      'row_changed, row_missing, row_added, order_changed, root_mismatch, chain_broken, balance_broken, head_mismatch or head_missing.',
  })
  reason: string | null;

  @Field(() => LedgerChainBlock, { nullable: true, description: 'The last block; null before the first one.' })
  head: LedgerChainBlock | null;
}

@Access(PROOF_READERS)
@ObjectType({ description: 'A sibling on the way from a leaf to the root.' })
export class LedgerProofStep {
  @Field(() => LedgerProofSide)
  side: LedgerProofSide;

  @Field(() => String)
  hash: string;
}

@Access(PROOF_READERS)
@ObjectType({ description: 'A receipt: with the public key alone it shows that a transaction is in the books.' })
export class LedgerInclusionProof {
  @Field(() => ID)
  transactionId: string;

  @Field(() => String)
  contentHash: string;

  @Field(() => String, { description: 'RFC 8785 form of the transaction; its SHA-256 is the content hash.' })
  canonical: string;

  @Field(() => [LedgerProofStep], { description: 'From the leaf to the root.' })
  path: LedgerProofStep[];

  @Field(() => LedgerChainBlock)
  block: LedgerChainBlock;

  @Field(() => [LedgerChainBlock], { description: 'From the block to the first signed head at or above it.' })
  chain: LedgerChainBlock[];

  @Field(() => LedgerSignedHead, { nullable: true, description: 'Null while its minute is not over.' })
  head: LedgerSignedHead | null;
}
