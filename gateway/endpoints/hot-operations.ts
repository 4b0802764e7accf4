import type { FastifyReply, FastifyRequest } from 'fastify';
import { Kind, validate, type DocumentNode, type GraphQLError, type OperationDefinitionNode } from 'graphql';
import { hasData, keyOf, type FederatedResult, type PreparedOperation } from '../plans/executor.js';
import type { Gateway } from '../plans/gateway.js';
import { answerOf, formatError } from './graphql-errors.js';
import { asksIntrospection } from '../plans/introspection.js';
import { BYTES_PER_CHARACTER, Lru } from '../plans/lru.js';

/** Limits of the documents kept: number and memory. */
const MAX_OPERATIONS = 2_000;
const MAX_BYTES = 32 * 1024 * 1024;

/** A parsed and validated operation, without its variables. */
interface HotOperation {
  readonly operation: OperationDefinitionNode;
  readonly prepared: PreparedOperation;
}

interface Body {
  query: string;
  operationName?: string | null;
  variables?: Record<string, unknown> | null;
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null;
const isPlainJson = (type: string | undefined): boolean => /^application\/json(;\s*charset=utf-8)?$/i.test(type ?? '');
const takesJson = (accept: string | undefined): boolean => accept === undefined || accept === '*/*' || accept === 'application/json';

/** The body of a request that needs no feature of @apollo/server: a POST of one document as JSON, without extensions. Null for any other. */
export function plainBody({ method, headers, body }: FastifyRequest): Body | null {
  if (method !== 'POST' || !isPlainJson(headers['content-type']) || !takesJson(headers.accept) || body === null || typeof body !== 'object')
    return null;
  const { query, operationName, variables, extensions } = body as Record<string, unknown>;
  if (typeof query !== 'string' || !isAbsent(extensions) || !(isAbsent(operationName) || typeof operationName === 'string')) return null;
  return isAbsent(variables) || (typeof variables === 'object' && !Array.isArray(variables)) ? (body as Body) : null;
}

function operationOf({ definitions }: DocumentNode, name: string | null): OperationDefinitionNode | undefined {
  const operations = definitions.filter(one => one.kind === Kind.OPERATION_DEFINITION);
  return name === null ? (operations.length === 1 ? operations[0] : undefined) : operations.find(one => one.name?.value === name);
}

/**
 * Keeps documents that came before, parsed and validated. A document is kept when it comes a second time, so that clients who write values
 * into their documents do not evict the others.
 */
export class HotOperations {
  readonly #known = new Lru<HotOperation | 'cold' | 'seen'>(MAX_OPERATIONS, MAX_BYTES);

  constructor(
    private readonly gateway: Gateway,
    private readonly parse: (source: string) => DocumentNode,
  ) {}

  /** Null where @apollo/server has to answer: a new or an invalid document, introspection. */
  find({ query, operationName }: Body): HotOperation | null {
    const key = isAbsent(operationName) ? query : `${operationName}\0${query}`; // no valid document holds U+0000, so keys are unique
    const known = this.#known.get(key);
    if (known === undefined) this.#known.set(key, 'seen', query.length * 2);
    else if (known === 'seen')
      this.#known.set(key, this.#prepare(query, operationName ?? null) ?? 'cold', query.length * BYTES_PER_CHARACTER);
    else return known === 'cold' ? null : known;
    return null;
  }

  #prepare(source: string, operationName: string | null): HotOperation | null {
    const document = this.parse(source);
    const operation = operationOf(document, operationName);
    if (!operation || asksIntrospection(document) || validate(this.gateway.apiSchema, document).length > 0) return null;
    return { operation, prepared: { document, source, key: keyOf(source), operationName } };
  }
}

/** Sends a result with the body, status and headers that @apollo/server would send. */
export function sendResult(reply: FastifyReply, result: FederatedResult): FastifyReply {
  const text = result.text ?? JSON.stringify(result.data);
  reply.type('application/json; charset=utf-8');
  if (result.errors.length === 0 && !result.extensions) return reply.send(`{"data":${text}}`);
  const errors = result.errors.map(error => formatError((error as GraphQLError).toJSON()));
  const { status, headers } = answerOf(hasData(result) ? result.data : null, errors);
  const errorMember = errors.length ? `,"errors":${JSON.stringify(errors)}` : '';
  return reply
    .status(status)
    .headers(headers)
    .send(`{"data":${text}${errorMember}${result.extensions ? `,"extensions":${JSON.stringify(result.extensions)}` : ''}}`);
}
