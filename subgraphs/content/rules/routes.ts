/** Addresses of a brand's storefront, by its route templates. Source: content 4.5. */
import type { ContentCollection } from '../entities/enums.js';

export type RouteTarget = ContentCollection | 'PRODUCT' | 'LIVE_SESSION';

/** Where storefronts show things unless a brand says otherwise; `*` is a page's own path. */
export const ROUTES: readonly (readonly [RouteTarget, string])[] = [
  ['LEARN_ARTICLES', '/learn/:slug'],
  ['PEPTIDES', '/peptides/:slug'],
  ['GOALS', '/goals/:slug'],
  ['STACKS', '/stacks/:slug'],
  ['PROTOCOL_DETAILS', '/protocols/:slug'],
  ['POSTS', '/posts/:slug'],
  ['POLICIES', '/policies/:slug'],
  ['COAS', '/coas/:id'],
  ['FAQS', '/faqs/:id'],
  ['RESEARCH_PAPERS', '/research/:id'],
  ['PRODUCT', '/products/:slug'],
  ['LIVE_SESSION', '/live/:id'],
  ['PAGES', '*'],
];

interface Hosted {
  hosts: readonly string[];
}

/** Address of an item on the first verified host; null where there is no host or no route. */
export function addressOf({ hosts }: Hosted, target: RouteTarget, key: string): string | null {
  const [host] = hosts;
  const template = ROUTES.find(([one]) => one === target)?.[1];
  if (host === undefined || template === undefined) return null;
  return `https://${host}${template === '*' ? key : template.replace(/:(slug|id)/, encodeURIComponent(key))}`;
}

export interface Matched {
  target: RouteTarget;
  by: 'slug' | 'id' | 'path';
  key: string;
}

/** What a path of a storefront shows; query and fragment play no part. */
export function matchPath(path: string): Matched | null {
  const bare = path.length > 1 ? path.replace(/\/+$/, '') || '/' : path;
  for (const [target, template] of ROUTES) {
    if (template === '*') return { target, by: 'path', key: bare };
    const [prefix, name] = template.split(':') as [string, 'slug' | 'id'];
    const rest = bare.startsWith(prefix) ? bare.slice(prefix.length) : '';
    if (rest !== '' && !rest.includes('/')) return { target, by: name, key: decoded(rest) };
  }
  return null;
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
