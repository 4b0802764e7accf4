import type { FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError, Kind, type DocumentNode, type GraphQLFormattedError, type OperationDefinitionNode } from 'graphql';
import type { CheckedDocuments } from '../limits/checked-documents.js';
import type { CheckedDocument } from '../limits/validation.js';
import { hasData, keyOf, type FederatedResult, type PreparedOperation } from '../plans/executor.js';
import type { Logger } from '../../runtime/observe/log.js';
import { answerOf, errorsOf, formatError, logUnknown } from './graphql-errors.js';
import { asksIntrospection } from '../plans/introspection.js';
import { BYTES_PER_CHARACTER, Lru } from '../plans/lru.js';

/** Limits of the documents kept: number and memory. */
const MAX_OPERATIONS = 2_000;
const MAX_BYTES = 32 * 1024 * 1024;

/** A parsed and validated operation, without its variables. */
interface HotOperation extends CheckedDocument {
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

  constructor(private readonly documents: CheckedDocuments<CheckedDocument>) {}

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
    const { document, invalidValues } = this.documents.get(source);
    const operation = operationOf(document, operationName);
    if (!operation || asksIntrospection(document)) return null;
    return { operation, document, invalidValues, prepared: { document, source, key: keyOf(source), operationName } };
  }
}

/** Sends a result with the body, status and headers that @apollo/server would send. */
export function sendResult(reply: FastifyReply, result: FederatedResult, log: Logger): FastifyReply {
  const text = result.text ?? JSON.stringify(result.data);
  reply.type('application/json; charset=utf-8');
  const found = errorsOf(result, log);
  if (found.length === 0) return reply.send(`{"data":${text}}`);
  const errors = found.map(error => formatResultError(error, log));
  const { status, headers } = answerOf(hasData(result) ? result.data : null, errors);
  return reply
    .status(status)
    .headers(headers)
    .send(`{"data":${text},"errors":${JSON.stringify(errors)}}`);
}

function formatResultError(error: GraphQLFormattedError, log: Logger): GraphQLFormattedError {
  const { originalError } = error as GraphQLError;
  logUnknown(error, originalError ?? error, log);
  return formatError(error instanceof GraphQLError ? error.toJSON() : error);
}
