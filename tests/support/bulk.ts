import type { Answer, TestPlatform } from './platform.js';

/** Rows as JSON lines. */
export const lines = (rows: readonly object[]): string => rows.map(row => JSON.stringify(row)).join('\n');

/** An import, and an export, as a file. */
export function bulkOf(p: TestPlatform, path: string, token: string) {
  const headers = { authorization: `Bearer ${token}` };
  return {
    take: (body: string, query = 'format=jsonl'): Promise<Answer> =>
      p.rest('POST', `${path}/import?${query}`, { token, body, headers: { 'content-type': 'text/plain' } }),
    async file(query = 'format=jsonl'): Promise<string> {
      const answer = await fetch(`${p.url}${path}/export?${query}`, { headers });
      if (answer.status !== 200) throw new Error(`no export: ${answer.status} ${await answer.text()}`);
      return answer.text();
    },
  };
}

/** Of an import. */
export const report = (given: object): object => ({ rows: 0, created: 0, updated: 0, unchanged: 0, failed: 0, errors: [], ...given });
