import type { RequestInfo } from '../../../runtime/request/request.js';
import { MAX_ENTITIES, MAX_PARTS, MAX_TEXT } from '../subgraph-source.js';
import { Call, type EntityDocument } from './call.js';
import { answersOfCalls, answersOfShares } from './demultiplex.js';
import type { MergedDocuments } from './merged-documents.js';
import type { Variables } from './rows.js';
import type { Subgraph, SubgraphAnswer } from './subgraph.js';

/** Each fetch of a call gets its part of the answer. */
const tell = (call: Call, answer: SubgraphAnswer): void =>
  answersOfShares(answer, call).forEach((one, at) => call.shares[at]!.resolve(one));

/**
 * Turns of the event loop for which calls over the network wait while others of the execution are under way: microseconds in an idle
 * process, and in a busy one what it takes to read the answers that came. Of 16 calls of a wide request 8.3 are left without them, 7.1 with.
 */
const TURNS = 3;

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length + 1, 0);
const fits = (count: number, length: number): boolean => count <= MAX_ENTITIES && length <= MAX_TEXT;

/**
 * The calls for entities of one execution. Fetches that become ready together share calls: those with the same document are one, each
 * representation asked once, and over the network different documents for one subgraph are one, too. In process they are together if
 * they are ready in the same turn of the microtask queue, so nothing waits; over the network, in the same turn of the event loop.
 */
export class Calls {
  readonly #waiting = new Map<Subgraph, Call[]>();
  /** Calls without an answer. */
  #underWay = 0;

  constructor(
    private readonly merged: MergedDocuments,
    private readonly request: RequestInfo,
  ) {}

  /** The answer has the fetch's entities in the order of `texts`, and its errors; nobody else has its objects. @throws Problem unavailable */
  send(document: EntityDocument, variables: Variables, texts: readonly string[]): Promise<SubgraphAnswer> {
    const calls = this.#callsOf(document.subgraph);
    const key = `${document.id} ${JSON.stringify(variables)}`;
    let call = calls.find(one => one.key === key && fits(one.count + texts.length, one.length + lengthOf(texts)));
    if (!call) calls.push((call = new Call(document, variables, key)));
    return call.add(texts);
  }

  /** Sends a call that waits for no other. @throws Problem unavailable */
  sendAlone({ send }: EntityDocument, variables: Variables, representations: string | null): Promise<SubgraphAnswer> {
    return this.#counted(send(variables, representations, this.request));
  }

  #counted<T>(answer: Promise<T>): Promise<T> {
    this.#underWay++;
    return answer.finally(() => this.#underWay--);
  }

  #callsOf(subgraph: Subgraph): Call[] {
    let calls = this.#waiting.get(subgraph);
    if (!calls) {
      this.#waiting.set(subgraph, (calls = []));
      if (subgraph.prepareLists) setImmediate(() => this.#wait(subgraph, 0));
      else queueMicrotask(() => this.#flush(subgraph));
    }
    return calls;
  }

  #wait(subgraph: Subgraph, turns: number): void {
    if (turns < TURNS && this.#underWay > 0) setImmediate(() => this.#wait(subgraph, turns + 1));
    else this.#flush(subgraph);
  }

  #flush(subgraph: Subgraph): void {
    const calls = this.#waiting.get(subgraph)!;
    this.#waiting.delete(subgraph);
    if (!subgraph.prepareLists) for (const call of calls) void this.#alone(call);
    else for (const group of groupsOf(calls)) void this.#together(group);
  }

  async #alone(call: Call): Promise<void> {
    try {
      tell(call, await this.sendAlone(call.document, call.variables, call.representations));
    } catch (error) {
      call.failed(error);
    }
  }

  /** Where one document's failure takes the data of the others with it, each is asked by itself. */
  async #together(calls: readonly Call[]): Promise<void> {
    const send = calls.length > 1 ? this.merged.of(calls) : null;
    if (!send) {
      for (const call of calls) void this.#alone(call);
      return;
    }
    try {
      const variables: Variables = Object.assign({}, ...calls.map(call => call.variables));
      const lists = calls.map(call => call.representations);
      const answer = await this.#counted(send(variables, lists, this.request));
      const answers = answersOfCalls(answer, calls.length);
      if (answers) answers.forEach((one, at) => tell(calls[at]!, one));
      else for (const call of calls) void this.#alone(call);
    } catch (error) {
      for (const call of calls) call.failed(error);
    }
  }
}

/** Calls that are sent as one, within the limits of a subgraph. */
function groupsOf(calls: readonly Call[]): Call[][] {
  const groups: Call[][] = [];
  let [group, count, length]: [Call[], number, number] = [[], 0, 0];
  for (const call of calls) {
    [count, length] = [count + call.count, length + call.length];
    if (group.length === 0 || group.length === MAX_PARTS || !fits(count, length)) {
      groups.push((group = []));
      [count, length] = [call.count, call.length];
    }
    group.push(call);
  }
  return groups;
}
