import jsonpatch from 'fast-json-patch';

export interface Difference {
  op: string;
  path: string;
  value: unknown;
  text: string | null;
}

/** Longer texts are shown as replaced. */
const MOST_WORDS = 600;

/** Words of two texts: those that went as `[-…-]`, those that came as `{+…+}`, by a longest common subsequence. */
export function textDifference(before: string, after: string): string | null {
  const [a, b] = [before.split(/(?<=\s)/), after.split(/(?<=\s)/)];
  if (a.length > MOST_WORDS || b.length > MOST_WORDS) return null;
  const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      table[i]![j] = a[i] === b[j] ? table[i + 1]![j + 1]! + 1 : Math.max(table[i + 1]![j]!, table[i]![j + 1]!);
  let [i, j, text] = [0, 0, ''];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) [text, i, j] = [text + a[i], i + 1, j + 1];
    else if (j >= b.length || (i < a.length && table[i + 1]![j]! >= table[i]![j + 1]!)) text += `[-${a[i++]}-]`;
    else text += `{+${b[j++]}+}`;
  }
  return text;
}

const valueAt = (document: unknown, path: string): unknown =>
  path
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (value, key) => (value as Record<string, unknown> | undefined)?.[key.replaceAll('~1', '/').replaceAll('~0', '~')],
      document,
    );

/** JSON Pointer operations from one document to another. */
export function differences(before: object, after: object): Difference[] {
  return jsonpatch.compare(before, after).map(one => {
    const value = 'value' in one ? (one.value as unknown) : null;
    const old = one.op === 'replace' ? valueAt(before, one.path) : null;
    return {
      op: one.op,
      path: one.path,
      value,
      text: typeof old === 'string' && typeof value === 'string' ? textDifference(old, value) : null,
    };
  });
}
