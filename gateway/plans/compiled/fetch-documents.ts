import type { EntityDocument } from './call.js';
import type { Subgraph } from './subgraph.js';

/** The subgraphs' documents of one operation. Fetches with the same text have the same one. */
export class FetchDocuments {
  readonly #known = new Map<string, EntityDocument>();

  constructor(private readonly subgraph: (service: string) => Subgraph) {}

  of(service: string, text: string): EntityDocument {
    const key = `${service} ${text}`;
    let document = this.#known.get(key);
    if (!document) {
      const subgraph = this.subgraph(service);
      this.#known.set(key, (document = { id: this.#known.size, text, subgraph, send: subgraph.prepare(text) }));
    }
    return document;
  }
}
