import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../../../runtime/config.js';
import { sha256 } from '../rules/canonical.js';
import { headContent } from '../rules/chain.js';

/** A minute's last block with its signature. */
export interface SignedHead {
  height: number;
  hash: Buffer;
  sealedAt: Date;
  keyId: string;
  signature: Buffer;
}

interface SigningKey {
  id: string;
  /** 32 bytes. */
  publicKey: Buffer;
  privateKey: KeyObject;
}

/** DER of an Ed25519 private key before its 32 bytes. Source: RFC 8410. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

function keyOf(base64: string): SigningKey {
  const seed = Buffer.from(base64, 'base64');
  if (seed.length !== 32) throw new Error('LEDGER_SIGNING_KEY must be 32 bytes, base64; make one with: openssl rand -base64 32');
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32);
  return { id: sha256(publicKey).toString('hex').slice(0, 16), publicKey, privateKey };
}

/** Signs heads with the first key of `LEDGER_SIGNING_KEY` and knows those of all: it stands outside the database, whose owner cannot sign. */
export class HeadSigner {
  readonly #keys: readonly SigningKey[];

  constructor(setting: string) {
    this.#keys = setting.split(',').map(one => keyOf(one.trim()));
  }

  get keyId(): string {
    return this.#keys[0]!.id;
  }

  get publicKey(): Buffer {
    return this.#keys[0]!.publicKey;
  }

  sign(head: { height: number; hash: Buffer; sealedAt: Date }): SignedHead {
    const signature = sign(null, Buffer.from(headContent(head)), this.#keys[0]!.privateKey);
    return { ...head, keyId: this.keyId, signature };
  }

  /** Whether one of our keys has signed it. */
  hasSigned(head: SignedHead): boolean {
    const key = this.#keys.find(one => one.id === head.keyId);
    return key !== undefined && verify(null, Buffer.from(headContent(head)), createPublicKey(key.privateKey), head.signature);
  }
}

const signers = new Map<string, HeadSigner>();

/** @throws Error without a key, or for a malformed one. */
export function signerOf(config: Config): HeadSigner {
  const setting = config.setting('LEDGER_SIGNING_KEY');
  if (!setting) throw new Error('LEDGER_SIGNING_KEY is not set; make one with: openssl rand -base64 32');
  let signer = signers.get(setting);
  if (!signer) signers.set(setting, (signer = new HeadSigner(setting)));
  return signer;
}

/** Where heads are kept besides the database. */
const fileOf = (config: Config): string => config.setting('LEDGER_HEADS_FILE') ?? join(config.dataDir, 'ledger-heads.jsonl');

const lineOf = ({ height, hash, sealedAt, keyId, signature }: SignedHead): string =>
  `${JSON.stringify({ height, hash: hash.toString('hex'), sealed_at: sealedAt.toISOString(), key_id: keyId, signature: signature.toString('base64') })}\n`;

/** Adds heads to the file, on the disk before it returns. */
export async function keepHeads(config: Config, heads: readonly SignedHead[]): Promise<void> {
  const file = fileOf(config);
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, heads.map(lineOf).join(''), { mode: 0o600, flush: true });
}

function headOf(line: string): SignedHead | null {
  try {
    const { height, hash, sealed_at, key_id, signature } = JSON.parse(line) as Record<string, string>;
    return {
      height: Number(height),
      hash: Buffer.from(hash!, 'hex'),
      sealedAt: new Date(sealed_at!),
      keyId: key_id!,
      signature: Buffer.from(signature!, 'base64'),
    };
  } catch {
    return null; // the last line of a process that was killed
  }
}

/** Heads of the file; none where there is no file yet. */
export async function keptHeads(config: Config): Promise<SignedHead[]> {
  const text = await readFile(fileOf(config), 'utf8').catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? '' : Promise.reject(error),
  );
  return text.split('\n').flatMap(line => (line ? (headOf(line) ?? []) : []));
}
