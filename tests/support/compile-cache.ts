import { join } from 'node:path';

/** Where processes that tests start keep what V8 compiled: each loads a thousand modules. The folder is that of `gateway/main.ts`. */
export const COMPILE_CACHE = join(import.meta.dirname, '../../node_modules/.cache/node-compile');
