import { Problem } from '../../../runtime/request/errors.js';
import { stored, type StoredDocument } from '../../../runtime/federation/federation.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Values } from '../rules/content.js';
import type { FileTemplate } from './template-files.js';

/** The answer of an owner, or that the owner is not in the supergraph. */
export type Displayed = { answer: Record<string, unknown> } | { absent: string };

/** What the gateway says of a field that nobody has: there is no place in the input that is wrong. */
const isUnknown = (error: unknown): boolean =>
  error instanceof Problem && (error.code === 'internal' || (error.code === 'invalid_request' && !error.options.errors?.length));

/** Variables of a stored document, from params. */
export function variablesFor(
  { arguments: named }: Pick<FileTemplate, 'arguments'>,
  params: Values,
  userId: string | null,
): Record<string, unknown> {
  const nobody = '00000000-0000-0000-0000-000000000000';
  const value = (from: string): unknown => {
    if (from === '$user') return userId;
    if (from === '$users') return [userId];
    if (from.startsWith('?')) return params[from.slice(1)] !== undefined && params[from.slice(1)] !== null;
    return params[from] ?? nobody;
  };
  return Object.fromEntries(Object.entries(named).map(([name, from]) => [name, value(from)]));
}

/** Asks an owner what a template shows and whether it still holds. @throws Problem unavailable. */
export async function displayOf(ctx: Context, template: FileTemplate, params: Values, userId: string | null): Promise<Displayed> {
  try {
    return { answer: await ctx.federation.run(template.document!, variablesFor(template, params, userId)) };
  } catch (error) {
    if (isUnknown(error)) return { absent: template.owner! };
    if (error instanceof Problem && error.code === 'not_found') return { answer: {} };
    throw error;
  }
}

const names = new Map<string, StoredDocument>();
const aliased = (codes: readonly string[]): StoredDocument => {
  const key = String(codes.length);
  let document = names.get(key);
  if (!document) {
    const variables = codes.map((_, index) => `$c${index}: String!`).join(', ');
    const fields = codes.map((_, index) => `m${index}: biomarker(code: $c${index}) { name }`).join(' ');
    names.set(key, (document = stored(`query CommsMarkers${codes.length}(${variables}) { ${fields} }`)));
  }
  return document;
};

/** Names of markers, in the order of their codes. */
export async function markerNames(ctx: Context, codes: readonly string[]): Promise<string[]> {
  const asked = Object.fromEntries(codes.map((code, index) => [`c${index}`, code]));
  const answer = await ctx.federation.run<Record<string, { name: string } | null>>(aliased(codes), asked);
  return codes.map((code, index) => answer[`m${index}`]?.name ?? code);
}

/** A page of who is to be told: a list of users that an owner gives, page by page. */
export interface Audience {
  userIds: string[];
  next: string | null;
}

const LIVE = stored(`query CommsLiveAudience($id: ID!, $after: String) {
  liveSessionAudience(sessionId: $id, first: 1000, after: $after) { userIds endCursor hasNextPage }
}`);
const BROADCAST = stored(`query CommsBroadcastAudience($id: ID!, $after: String) {
  communityBroadcastAudience(id: $id, first: 1000, after: $after) { userIds endCursor hasNextPage }
}`);

interface Page {
  userIds: string[];
  endCursor: string | null;
  hasNextPage: boolean;
}

/** @returns null where the owner is not there. @throws Problem unavailable. */
export async function audienceOf(ctx: Context, kind: string, id: string, after: string | null): Promise<Audience | null> {
  try {
    const answer = await ctx.federation.run<Record<string, Page>>(kind === 'live_session' ? LIVE : BROADCAST, { id, after });
    const { userIds, endCursor, hasNextPage } = Object.values(answer)[0]!;
    return { userIds, next: hasNextPage ? endCursor : null };
  } catch (error) {
    if (isUnknown(error)) return null;
    throw error;
  }
}

const RECEIPT = stored('query CommsVendorReceipt($id: ID!) { vendorWebhookReceipt(id: $id) { body } }');

/** Body of a verified call of a vendor; null where integrations is not there. */
export async function vendorReceipt(ctx: Context, id: string): Promise<Record<string, unknown> | null> {
  try {
    const { vendorWebhookReceipt } = await ctx.federation.run<{ vendorWebhookReceipt: { body: Record<string, unknown> } | null }>(RECEIPT, {
      id,
    });
    return vendorWebhookReceipt?.body ?? null;
  } catch (error) {
    if (isUnknown(error)) return null;
    throw error;
  }
}
