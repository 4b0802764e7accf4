import { createRequire } from 'node:module';

/**
 * A package that is loaded at its first use: few processes use it, and loading it takes time and memory of all others. For what is not
 * in a position to wait; where one can, `await import()` does.
 * @param from `import.meta.url` of who asks.
 */
export function lazyPackage<Package>(from: string, name: string): () => Package {
  let loaded: Package | undefined;
  return () => (loaded ??= createRequire(from)(name) as Package);
}
