import { isRow, type Row } from './rows.js';

/** Path of a plan's Flatten node: field names, and `@` for each element of a list. */
export type PlanPath = readonly (string | number)[];

/** Compiles a plan's path to a function that collects the objects at it: in order, each once, even when it has several paths. A null ends its branch. */
export function compilePath(path: PlanPath): (root: Row) => Row[] {
  const steps = path.map(String);
  const walk = (value: any, at: number, seen: Set<Row>): void => {
    for (; at < steps.length; at++) {
      if (value === null || value === undefined) return;
      if (steps[at] === '@') {
        for (const element of value) walk(element, at + 1, seen);
        return;
      }
      value = value[steps[at]!];
    }
    if (Array.isArray(value)) for (const element of value) walk(element, at, seen);
    else if (isRow(value)) seen.add(value);
  };
  return root => {
    const seen = new Set<Row>();
    walk(root, 0, seen);
    return [...seen];
  };
}

/** Paths in the response of the objects at a plan's path, for their errors. An object may have several. */
export function responsePaths(root: Row, path: PlanPath): Map<object, (string | number)[][]> {
  const found = new Map<object, (string | number)[][]>();
  const walk = (value: any, at: number, here: (string | number)[]): void => {
    if (value === null || value === undefined) return;
    if (Array.isArray(value)) value.forEach((element, index) => walk(element, path[at] === '@' ? at + 1 : at, [...here, index]));
    else if (at === path.length) found.set(value, [...(found.get(value) ?? []), here]);
    else walk(value[path[at]!], at + 1, [...here, path[at]!]);
  };
  walk(root, 0, []);
  return found;
}
