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

/** Keeps what a pure function makes of a text, for the texts that came first. @param most texts kept, since callers may choose them. */
export function memoText<Made>(make: (text: string) => Made, most = 1_000): (text: string) => Made {
  const made = new Map<string, Made>();
  return text => {
    if (made.has(text)) return made.get(text)!;
    const one = make(text);
    if (made.size < most) made.set(text, one);
    return one;
  };
}
