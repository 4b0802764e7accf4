import type { CallOptions, StoredDocument } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';

export type Asker = Pick<ServiceHost, 'federation'>;

/** What the federation answers where no service has the operation; a violation of what was asked names its place. */
export const isUnknown = ({ code, options }: Problem): boolean =>
  code === 'internal' || (code === 'invalid_request' && !options.errors?.length);

/**
 * Asks a neighbour as `svc-commerce`. A suite without it does not know the operation: that is a service which is not there.
 * @throws Problem unavailable when it is not there or does not answer; its own problem otherwise.
 */
export async function ask<Data>({ federation }: Asker, document: StoredDocument, variables: object, options?: CallOptions): Promise<Data> {
  try {
    return await federation.run<Data>(document, variables as Record<string, unknown>, options);
  } catch (error) {
    if (error instanceof Problem && isUnknown(error))
      throw new Problem('unavailable', 'A service that is needed is not available', { cause: error, retryAfter: 30 });
    throw error;
  }
}

/** An answer within so many ms. @throws Problem unavailable after that; the work goes on, and whoever asked must be able to repeat. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Problem('unavailable', 'A service that is needed is silent', { retryAfter: 5 })), ms);
  });
  work.catch(() => undefined); // after the deadline nobody waits for its failure
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
