import { join } from 'node:path';
import type { Config } from '../config.js';
import type { ServiceHost } from '../request/context.js';
import { type BlobStore, LocalBlobs } from './blob-store.js';
import { S3Blobs } from './s3.js';

/** `BLOB_S3_BUCKET` (with `BLOB_S3_REGION`, `BLOB_S3_ENDPOINT`) moves blobs out of the data folder; several processes need that. */
function openBlobs(config: Config): BlobStore {
  const bucket = config.setting('BLOB_S3_BUCKET');
  if (!bucket) return new LocalBlobs(join(config.dataDir, 'blobs'));
  return new S3Blobs({ bucket, region: config.setting('BLOB_S3_REGION') ?? 'us-east-1', endpoint: config.setting('BLOB_S3_ENDPOINT') });
}

const known = new WeakMap<ServiceHost, BlobStore>();

/** The blobs of a running service. */
export function blobsOf(host: ServiceHost): BlobStore {
  let blobs = known.get(host);
  if (!blobs) known.set(host, (blobs = openBlobs(host.config)));
  return blobs;
}
