import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { sameSecret } from '../data/crypto.js';

/** Header by which a gateway of this deployment proves itself to the processes of services. Source: architecture 4. */
export const SUBGRAPH_SECRET_HEADER = 'x-subgraph-secret';

/** Shortest `SUBGRAPH_SECRET`, bytes: the 256 bits that no attempt guesses. */
export const MIN_SECRET_BYTES = 32;

/**
 * What the gateway's proxy sends instead of the secret. A proxied request has a path of its client's choice, so it must prove where it comes
 * from without opening the subgraph endpoints.
 */
export const proxyCredential = (secret: string): string => createHmac('sha256', secret).update('proxied request').digest('base64url');

/** Header by which a service says, proven by the secret, that an answer is data without errors, so that its text may be handed on unread. */
export const COMPLETE_ANSWER_HEADER = 'x-complete-answer';

/** What the header holds. */
export const completeAnswerProof = (secret: string): string => createHmac('sha256', secret).update('complete answer').digest('base64url');

/** Whether what came is the proof; its length, which shows how it is made, is no secret. Runs once for each answer that is handed on. */
export function provesCompleteness(sent: string, proof: Buffer): boolean {
  const bytes = Buffer.from(sent);
  return bytes.length === proof.length && timingSafeEqual(bytes, proof);
}

function sends(headers: IncomingHttpHeaders, credential: string): boolean {
  const sent = headers[SUBGRAPH_SECRET_HEADER];
  return typeof sent === 'string' && sameSecret(sent, credential);
}

/** Whether the request is a gateway's call of a subgraph. Without a secret none is. */
export const isSubgraphCall = (headers: IncomingHttpHeaders, secret: string | null): boolean => secret !== null && sends(headers, secret);

/** Whether the request comes from a gateway of this deployment, whose `X-Forwarded-For` is the client's address. */
export const isFromGateway = (headers: IncomingHttpHeaders, secret: string | null): boolean =>
  secret !== null && headers[SUBGRAPH_SECRET_HEADER] !== undefined && (sends(headers, secret) || sends(headers, proxyCredential(secret)));
