/** Entry of a process. The compile cache is enabled before anything is imported: loading the modules takes 0.5 s with it instead of 1 s. */
import module from 'node:module';
import { join } from 'node:path';

const NODE_MAJOR = 24;
if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR) {
  process.stderr.write(
    `The platform needs Node ${NODE_MAJOR} or newer, and this is ${process.versions.node}. npm start brings its own; so does ./node_modules/.bin/node.\n`,
  );
  process.exit(1);
}

const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/node-compile');
module.enableCompileCache(FOLDER);

const OWN = new URL('../', import.meta.url).href;
const packages = new Map<string, module.ResolveFnOutput>();

/** Of an import between our own modules the file is known, and a package is looked for once: 11,700 imports are 2,300 modules, and to look each of them up takes a fifth of loading. */
module.registerHooks({
  resolve(specifier, context, next) {
    if (!context.parentURL?.startsWith(OWN) || !context.conditions.includes('import')) return next(specifier, context);
    if (specifier.startsWith('.') && specifier.endsWith('.js'))
      return { url: new URL(specifier, context.parentURL).href, format: 'module', shortCircuit: true };
    const known = packages.get(specifier) ?? { ...next(specifier, context), shortCircuit: true };
    if (!specifier.startsWith('.')) packages.set(specifier, known);
    return known;
  },
});

/** A small buffer keeps its whole slab alive. With Node 24's slabs of 64 KiB each ranking kept 60 KB, which took a full garbage collection of 150 ms every 4 s. */
Buffer.poolSize = 8 * 1024;
await import('./composition/start.js');
