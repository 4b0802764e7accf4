/**
 * A process of the platform as production starts it; with patches as its first argument, with these built in: text of modules is replaced while
 * they are loaded, so the product itself has no switch. Run by node as it stands, so only erasable syntax.
 */
import { registerHooks } from 'node:module';
import type { Patch } from './wrong-designs.js';

const DIST = new URL('../../dist/', import.meta.url).href;
const patches = JSON.parse(process.argv[2] ?? '[]') as Patch[];

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const mine = patches.filter(patch => url === DIST + patch.module);
    const source = mine.reduce((text, { find, replace }) => {
      if (text.split(find).length !== 2) throw new Error(`${url}: the text to be replaced is not there once`);
      return text.replace(find, () => replace);
    }, String(loaded.source));
    return mine.length ? { ...loaded, source } : loaded;
  },
});

process.stdin.on('end', () => process.exit(1)).resume(); // the run is gone
await import(DIST + (process.argv[3] ?? 'gateway/main.js'));
