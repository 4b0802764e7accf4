import { isRow, type Row } from './run.js';

/** Path of a Flatten node: field names, and `@` for "each element". */
export type PlanPath = readonly (string | number)[];

/**
 * Compiles a plan's path into a collector of the objects there, each once and in order, however often it stands in the data.
 * Null on the way ends that branch.
 */
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

/** Response paths of the objects at a plan's path: where an error of the entity is to be told. An object that stands twice has two. */
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
