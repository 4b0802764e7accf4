import type { FastifyReply, FastifyRequest } from 'fastify';
import { Kind, validate, type DocumentNode, type GraphQLError, type OperationDefinitionNode } from 'graphql';
import { hasData, keyOf, type FederatedResult, type PreparedOperation } from '../plans/executor.js';
import type { Gateway } from '../plans/gateway.js';
import { answerOf, formatError } from './graphql-errors.js';
import { asksIntrospection } from './introspection.js';
import { Lru } from '../plans/lru.js';

/** Documents kept: by number, and by bytes, of which a parsed document takes some thirty per character. */
const MAX_OPERATIONS = 2_000;
const MAX_BYTES = 32 * 1024 * 1024;
const BYTES_PER_CHARACTER = 30;

/** An operation that ApolloServer would validate and answer no otherwise; its variables come with each request. */
export interface HotOperation {
  readonly operation: OperationDefinitionNode;
  readonly federated: PreparedOperation;
}

interface Body {
  query: string;
  operationName?: string | null;
  variables?: Record<string, unknown> | null;
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null;
const isPlainJson = (type: string | undefined): boolean => /^application\/json(;\s*charset=utf-8)?$/i.test(type ?? '');
const takesJson = (accept: string | undefined): boolean => accept === undefined || accept === '*/*' || accept === 'application/json';

/** The body of a request that needs nothing of ApolloServer: a plain POST of one document, without extensions or other media types. */
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
 * Documents that were seen before and are valid, with what each request would find out anew. A document enters at its second
 * sight, so that those who put values into their texts do not push out the others.
 */
export class HotOperations {
  readonly #known = new Lru<HotOperation | 'cold' | 'seen'>(MAX_OPERATIONS, MAX_BYTES);

  constructor(
    private readonly gateway: Gateway,
    private readonly parse: (source: string) => DocumentNode,
  ) {}

  /** Null for what ApolloServer answers: the first sight of a document, an invalid one, introspection. */
  find({ query, operationName }: Body): HotOperation | null {
    const key = isAbsent(operationName) ? query : `${operationName}\0${query}`; // no valid document holds U+0000, so no two requests share a key
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
    return { operation, federated: { document, source, key: keyOf(source), operationName } };
  }
}

/** Sends a result as ApolloServer would: its status from its errors, each of them in our form. */
export function sendResult(reply: FastifyReply, result: FederatedResult): FastifyReply {
  const text = result.text ?? JSON.stringify(result.data);
  reply.type('application/json; charset=utf-8');
  if (result.errors.length === 0 && !result.extensions) return reply.send(`{"data":${text}}`);
  const errors = result.errors.map(error => formatError((error as GraphQLError).toJSON()));
  const { status, headers } = answerOf(hasData(result) ? result.data : null, errors);
  const told = errors.length ? `,"errors":${JSON.stringify(errors)}` : '';
  return reply
    .status(status)
    .headers(headers)
    .send(`{"data":${text}${told}${result.extensions ? `,"extensions":${JSON.stringify(result.extensions)}` : ''}}`);
}
