import type { DocumentNode } from 'graphql';
import { BYTES_PER_CHARACTER, Lru } from '../plans/lru.js';
import { parseLimited } from './limits.js';

/** Memory for parsed documents, bytes. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Documents that are within the limits, each parsed and checked once. One that comes again costs a hash look-up. */
export class CheckedDocuments<Checked> {
  readonly #known: Lru<Checked>;

  /** @param check a further check of each new document; what it returns is kept. @throws Problem invalid_request */
  constructor(
    private readonly check: (document: DocumentNode) => Checked,
    max = 2_000,
  ) {
    this.#known = new Lru(max, MAX_BYTES);
  }

  /** @throws Problem invalid_request for a syntax error or a document beyond the limits. */
  get(source: string): Checked {
    const known = this.#known.get(source);
    if (known) return known;
    const checked = this.check(parseLimited(source));
    this.#known.set(source, checked, source.length * BYTES_PER_CHARACTER);
    return checked;
  }
}
