import type { Slug } from '../../../events/slugs.js';
import { Problem } from '../../../runtime/request/errors.js';
import { stored, type StoredDocument } from '../../../runtime/federation/federation.js';
import type { StepContext } from './workflow.js';

/** A document of another service that steps run as `svc-workflow`. */
export interface Question {
  owner: Slug;
  document: StoredDocument;
}

/** All of them, for the test that holds them against the supergraph. */
export const QUESTIONS: Question[] = [];

export function question(owner: Slug, source: string): Question {
  const made = { owner, document: stored(source) };
  QUESTIONS.push(made);
  return made;
}

/** What the federation answers where no service has the operation; a violation of what was asked names its place. A test holds every document against the supergraph. */
const isUnknown = ({ code, options }: Problem): boolean => code === 'internal' || (code === 'invalid_request' && !options.errors?.length);

/**
 * Runs a document with the step's key. A suite without the service does not know the operation: that is a service which is not there.
 * @throws Problem unavailable when it is not there or does not answer; the operation's own problem otherwise.
 */
export async function ask<Data>({ host, idempotencyKey }: StepContext, { owner, document }: Question, variables: object): Promise<Data> {
  try {
    return await host.federation.run<Data>(document, variables as Record<string, unknown>, { idempotencyKey });
  } catch (error) {
    if (error instanceof Problem && isUnknown(error))
      throw new Problem('unavailable', `${owner} is not available`, { cause: error, reason: `${owner}_not_available` });
    throw error;
  }
}
