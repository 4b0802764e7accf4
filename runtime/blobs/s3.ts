import type { S3Client } from '@aws-sdk/client-s3';
import type { BlobStore } from './blob-store.js';

export interface S3Setting {
  bucket: string;
  region: string;
  /** For stores that are not Amazon's; the bucket then stands in the path. */
  endpoint?: string;
}

/** Deadline of one request, ms. */
const CALL_MS = 10_000;

/** A year; the bytes under a name never change. */
const FOREVER = 'public, max-age=31536000, immutable';

/** An S3 bucket; credentials come from where the vendor's library looks for them. The library is loaded on first use only. */
export class S3Blobs implements BlobStore {
  #opened: Promise<{ sdk: typeof import('@aws-sdk/client-s3'); client: S3Client }> | null = null;

  constructor(private readonly setting: S3Setting) {}

  async #open(): Promise<{ sdk: typeof import('@aws-sdk/client-s3'); client: S3Client }> {
    const sdk = await import('@aws-sdk/client-s3');
    const { region, endpoint } = this.setting;
    return { sdk, client: new sdk.S3Client({ region, ...(endpoint && { endpoint, forcePathStyle: true }) }) };
  }

  #s3() {
    return (this.#opened ??= this.#open());
  }

  async put(name: string, bytes: Buffer, contentType: string): Promise<void> {
    const { sdk, client } = await this.#s3();
    const command = new sdk.PutObjectCommand({
      Bucket: this.setting.bucket,
      Key: name,
      Body: bytes,
      ContentType: contentType,
      CacheControl: FOREVER,
    });
    await client.send(command, { abortSignal: AbortSignal.timeout(CALL_MS) });
  }

  async get(name: string): Promise<Buffer | null> {
    const { sdk, client } = await this.#s3();
    try {
      const command = new sdk.GetObjectCommand({ Bucket: this.setting.bucket, Key: name });
      const { Body: body } = await client.send(command, { abortSignal: AbortSignal.timeout(CALL_MS) });
      return body ? Buffer.from(await body.transformToByteArray()) : null;
    } catch (error) {
      if (error instanceof sdk.NoSuchKey) return null;
      throw error;
    }
  }

  async remove(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    const { sdk, client } = await this.#s3();
    const Delete = { Objects: names.map(Key => ({ Key })), Quiet: true };
    const { Errors: failed } = await client.send(new sdk.DeleteObjectsCommand({ Bucket: this.setting.bucket, Delete }), {
      abortSignal: AbortSignal.timeout(CALL_MS),
    });
    if (failed?.length) throw new Error(`${failed.length} objects could not be deleted: ${failed[0]!.Code}`);
  }

  /** A thousand at a time, which is what one listing holds. */
  async removeFolder(folder: string): Promise<boolean> {
    const { sdk, client } = await this.#s3();
    for (let found = false; ; found = true) {
      const listing = await client.send(new sdk.ListObjectsV2Command({ Bucket: this.setting.bucket, Prefix: folder }), {
        abortSignal: AbortSignal.timeout(CALL_MS),
      });
      const names = (listing.Contents ?? []).map(one => one.Key!);
      if (names.length === 0) return found;
      await this.remove(names);
    }
  }
}
