import type { Variables } from './rows.js';
import type { Send, Subgraph, SubgraphAnswer } from './subgraph.js';

/** A document of entities; the fetches of an operation that have the same text share it. */
export interface EntityDocument {
  /** Number within the operation. */
  readonly id: number;
  readonly text: string;
  readonly subgraph: Subgraph;
  readonly send: Send;
}

/** What one fetch wants of a call, and whom to tell. */
export interface Share {
  /** For each of the fetch's representations, its place in the call. */
  readonly places: readonly number[];
  readonly resolve: (answer: SubgraphAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** A document and its representations, each of which is in it once, for one or more fetches. */
export class Call {
  readonly shares: Share[] = [];
  readonly #places = new Map<string, number>();
  #length = 0;

  constructor(
    readonly document: EntityDocument,
    readonly variables: Variables,
    /** Document and variables. */
    readonly key: string,
  ) {}

  /** Number of representations. */
  get count(): number {
    return this.#places.size;
  }

  /** Characters of the representations. */
  get length(): number {
    return this.#length;
  }

  get representations(): string {
    return [...this.#places.keys()].join(',');
  }

  add(texts: readonly string[]): Promise<SubgraphAnswer> {
    const places = texts.map(text => this.#placeOf(text));
    return new Promise((resolve, reject) => this.shares.push({ places, resolve, reject }));
  }

  #placeOf(text: string): number {
    const known = this.#places.get(text);
    if (known !== undefined) return known;
    this.#places.set(text, this.#places.size);
    this.#length += text.length + 1;
    return this.#places.size - 1;
  }

  failed(error: unknown): void {
    for (const share of this.shares) share.reject(error);
  }
}
