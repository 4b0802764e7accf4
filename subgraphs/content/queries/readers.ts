import { holdsPermission, isStaff, type Caller } from '../../../runtime/request/caller.js';
import { definitionOf } from '../entities/collections.js';
import type { ContentAudience, ContentCollection } from '../entities/enums.js';

/** What a caller may read. Source: content 4, R. */
export interface Readers {
  audiences: readonly ContentAudience[];
  /** Scopes of collections that need one. */
  papers: boolean;
  /** Sees drafts, and fields for editors. */
  editor: boolean;
}

const SERVICE = 'admin:content';
const STAFF = 'admin:content:read';
const PAPERS = 'read:research_papers';

const isEditor = (caller: Caller): boolean =>
  caller.kind === 'system' || (caller.kind === 'service' && caller.scopes.has(SERVICE)) || holdsPermission(caller, STAFF);

function audiencesOf(caller: Caller, editor: boolean): ContentAudience[] {
  if (editor) return ['PUBLIC', 'MEMBER', 'PARTNER'];
  if (caller.kind !== 'user') return ['PUBLIC'];
  return ['PUBLIC', ...(caller.scopes.has('read:content') ? ['MEMBER' as const] : []), ...(isStaff(caller) ? ['PARTNER' as const] : [])];
}

export function readersOf(caller: Caller): Readers {
  const editor = isEditor(caller);
  return { audiences: audiencesOf(caller, editor), papers: editor || (caller.kind === 'user' && caller.scopes.has(PAPERS)), editor };
}

/** Whether the caller may read a collection at all. */
export const mayReadCollection = ({ papers }: Readers, collection: ContentCollection): boolean =>
  definitionOf(collection).scope === undefined || papers;
