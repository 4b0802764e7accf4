/** Reads a CPU profile of V8: self time by package and by function, and time by function with all that it calls. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const TOP = 40;
const NOT_WORK = new Set(['(idle)', '(program)', '(root)']);

/** `pg`, `ours: gateway/compiled`, `(garbage collector)`; null for Node and V8, whose time counts for their caller. */
function packageOf({ url, functionName }) {
  const found = [...url.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].at(-1)?.[1];
  const own = /\/dist\/(.+)\/[^/]+$/.exec(url)?.[1];
  if (found || own) return found ?? `ours: ${own}`;
  if (url.startsWith('evalmachine') || url.startsWith('compiled')) return 'compiled code';
  return functionName === '(garbage collector)' ? functionName : null;
}

/** Node's and V8's own time belongs to the nearest caller; what nobody called, such as the reading of sockets, is theirs. */
function callerOf(id, frames, parents) {
  for (let at = id; at !== undefined; at = parents.get(at)) {
    const found = packageOf(frames.get(at));
    if (found) return found;
  }
  return 'node';
}

const nameOf = ({ functionName, url, lineNumber }, owner) =>
  `${functionName || '(anonymous)'}  ${owner} ${url.slice(url.lastIndexOf('/') + 1)}:${lineNumber + 1}`;

/** Functions under way in a sample, each once. */
function stackOf(id, frames, parents) {
  const names = new Set();
  for (let at = id; at !== undefined; at = parents.get(at)) {
    const owner = packageOf(frames.get(at));
    if (owner) names.add(nameOf(frames.get(at), owner));
  }
  return names;
}

function add(sums, key, micros) {
  sums.set(key, (sums.get(key) ?? 0) + micros);
}

const shown = (sums, total, cpu) =>
  [...sums]
    .sort(([, a], [, b]) => b - a)
    .slice(0, TOP)
    .map(([key, micros]) => `${((micros / total) * 100).toFixed(1).padStart(6)} %  ${((micros / total) * cpu).toFixed(3)} ms  ${key}`)
    .join('\n');

/** Text about the largest profile of a folder, without its first third: the start, and warming up. @param cpu of a request, ms. */
export async function profileOf(folder, cpu) {
  const files = (await readdir(folder)).filter(file => file.endsWith('.cpuprofile'));
  const texts = await Promise.all(files.map(file => readFile(join(folder, file), 'utf8')));
  const { nodes, samples, timeDeltas } = JSON.parse(texts.sort((a, b) => b.length - a.length)[0]);
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map(child => [child, id])));
  const [packages, functions, whole] = [new Map(), new Map(), new Map()];
  let total = 0;
  for (let index = Math.floor(samples.length / 3); index < samples.length; index++) {
    const frame = frames.get(samples[index]);
    if (NOT_WORK.has(frame.functionName)) continue;
    const owner = callerOf(samples[index], frames, parents);
    total += timeDeltas[index];
    add(packages, owner, timeDeltas[index]);
    add(functions, nameOf(frame, owner), timeDeltas[index]);
    for (const name of stackOf(samples[index], frames, parents)) add(whole, name, timeDeltas[index]);
  }
  const parts = {
    'self time by package': packages,
    'self time by function': functions,
    'time by function with what it calls, until it waits': whole,
  };
  return Object.entries(parts)
    .map(([title, sums]) => `${title}\n${shown(sums, total, cpu)}\n`)
    .join('\n');
}
