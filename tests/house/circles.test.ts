import { describe, expect, test } from 'vitest';
import { importsOf, sourcesIn } from './sources.js';

type Graph = ReadonlyMap<string, readonly string[]>;

/** The files of a folder with those of its own files that they import, type imports included. */
function graphOf(folder: string): Graph {
  const files = sourcesIn(folder);
  return new Map(files.map(file => [file, importsOf(file).map(target => target.replace(/\.js$/, '.ts'))]));
}

/** What can be reached from a file by one import or more. */
function reachable(graph: Graph, from: string): Set<string> {
  const [seen, next] = [new Set<string>(), [...(graph.get(from) ?? [])]];
  for (let file = next.pop(); file !== undefined; file = next.pop())
    if (!seen.has(file)) {
      seen.add(file);
      next.push(...(graph.get(file) ?? []));
    }
  return seen;
}

const inCircle = (graph: Graph): string[] => [...graph.keys()].filter(file => reachable(graph, file).has(file)).sort();

/** A file must be readable without those that import it. The services have one list, whose file names them all. */
const services = [...new Set(sourcesIn('subgraphs').map(file => file.split('/').slice(0, 2).join('/')))].filter(
  one => !one.endsWith('.ts'),
);

describe.each(['runtime', 'gateway', 'rest-adapter', 'events', ...services])('%s', folder => {
  test('has no files that import each other in a circle', () => {
    expect(inCircle(graphOf(folder))).toEqual([]);
  });
});

test('a circle of two, one of three and a file that imports itself are found, and a file that only imports them is not', () => {
  const graph = new Map([
    ['a', ['b']],
    ['b', ['a']],
    ['c', ['d', 'a']],
    ['d', ['e']],
    ['e', ['c']],
    ['f', ['f']],
    ['g', ['a', 'f']],
  ]);
  expect(inCircle(graph)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
});
