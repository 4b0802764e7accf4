import type { DocumentNode } from 'graphql';
import { BYTES_PER_CHARACTER, Lru } from '../plans/lru.js';
import { parseLimited } from './limits.js';

/** Memory for parsed documents, bytes. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Parsed documents that are within the limits. A document that comes again costs a hash look-up. */
export class CheckedDocuments {
  readonly #known: Lru<DocumentNode>;

  /** @param check a further check of each new document. @throws Problem invalid_request */
  constructor(
    max = 2_000,
    private readonly check: (document: DocumentNode) => void = () => undefined,
  ) {
    this.#known = new Lru(max, MAX_BYTES);
  }

  /** @throws Problem invalid_request for a syntax error or a document beyond the limits. */
  get(source: string): DocumentNode {
    const known = this.#known.get(source);
    if (known) return known;
    const document = parseLimited(source);
    this.check(document);
    this.#known.set(source, document, source.length * BYTES_PER_CHARACTER);
    return document;
  }
}
