/** What a path answers to methods that no route has: 404 for an unknown path, 405 with `Allow`, and `OPTIONS`. */
import type { Method } from './route.js';

export interface KnownPath {
  method: Method;
  /** Whole pattern, for example `/clinical/v1/retest-cycles/{id}`. */
  pattern: string;
}

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A pattern matches one non-empty segment per `{name}`. */
const toRegExp = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split(/\{[^}]+\}/)
      .map(escape)
      .join('[^/]+')}$`,
  );

/** A function from a path (without query) to the methods that it answers, sorted; empty for an unknown path. */
export function methodsOf(paths: readonly KnownPath[]): (path: string) => string[] {
  const byPattern = new Map<string, { matches: RegExp; methods: Set<string> }>();
  for (const { method, pattern } of paths) {
    if (!byPattern.has(pattern)) byPattern.set(pattern, { matches: toRegExp(pattern), methods: new Set(['OPTIONS']) });
    byPattern.get(pattern)!.methods.add(method);
    if (method === 'GET') byPattern.get(pattern)!.methods.add('HEAD');
  }
  const known = [...byPattern.values()];
  return path => [...new Set(known.filter(({ matches }) => matches.test(path)).flatMap(({ methods }) => [...methods]))].sort();
}
