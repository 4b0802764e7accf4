/** Reads a CPU profile of V8: self time by package and by function. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const TOP = 25;
const NOT_WORK = new Set(['(idle)', '(program)', '(root)']);

/** `pg`, `node:http`, `ours: gateway/compiled`, `(garbage collector)`. */
function packageOf({ url, functionName }) {
  const found = [...url.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].at(-1)?.[1];
  if (found) return found;
  const own = /\/dist\/(.+)\/[^/]+$/.exec(url)?.[1];
  if (own) return `ours: ${own}`;
  return url.startsWith('node:') ? 'node' : url || functionName.startsWith('(') ? functionName : 'native or compiled';
}

function add(sums, key, micros) {
  sums.set(key, (sums.get(key) ?? 0) + micros);
}

const shown = (sums, total) =>
  [...sums]
    .sort(([, a], [, b]) => b - a)
    .slice(0, TOP)
    .map(([key, micros]) => `${((micros / total) * 100).toFixed(1).padStart(6)} %  ${key}`)
    .join('\n');

/** Text about the largest profile of a folder. What the process did before the load counts too, so the load should be long. */
export async function profileOf(folder) {
  const texts = await Promise.all(
    (await readdir(folder)).filter(file => file.endsWith('.cpuprofile')).map(file => readFile(join(folder, file), 'utf8')),
  );
  const { nodes, samples, timeDeltas } = JSON.parse(texts.sort((a, b) => b.length - a.length)[0]);
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const [packages, functions] = [new Map(), new Map()];
  const span = timeDeltas.reduce((sum, one) => sum + one, 0);
  let [at, total] = [0, 0];
  samples.forEach((id, index) => {
    at += timeDeltas[index];
    const frame = frames.get(id);
    if (at < span / 3 || NOT_WORK.has(frame.functionName)) return; // the start, and warming up
    total += timeDeltas[index];
    add(packages, packageOf(frame), timeDeltas[index]);
    add(functions, `${frame.functionName || '(anonymous)'}  ${packageOf(frame)}:${frame.lineNumber + 1}`, timeDeltas[index]);
  });
  return `self time by package\n${shown(packages, total)}\n\nself time by function\n${shown(functions, total)}`;
}
