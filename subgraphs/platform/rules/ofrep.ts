import { OWN_ATTRIBUTES } from './attributes.js';

/** A context of the OpenFeature Remote Evaluation Protocol, read. */
export interface OfrepContext {
  userId: string | null;
  brandId: string | null;
  attributes: { country?: string; locale?: string; tier?: string; client?: string; appVersion?: string; role?: string[] };
}

/** Its form of an error, without the key. */
export interface OfrepError {
  errorCode: 'PARSE_ERROR' | 'INVALID_CONTEXT';
  errorDetails: string;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const TEXTS = ['country', 'locale', 'tier', 'client', 'appVersion'] as const;
/** What a user token may name in a context. */
const OWN: readonly string[] = [...OWN_ATTRIBUTES, 'targetingKey', 'brandId'];
const MAX_TEXT = 128;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= MAX_TEXT;
const invalid = (errorDetails: string): OfrepError => ({ errorCode: 'INVALID_CONTEXT', errorDetails });

const KNOWN: readonly string[] = ['targetingKey', 'brandId', 'role', ...TEXTS];

function wrongs(context: Record<string, unknown>): string[] {
  const ids = (['targetingKey', 'brandId'] as const).filter(
    name => context[name] != null && !(isText(context[name]) && UUID.test(context[name])),
  );
  const texts = TEXTS.filter(name => context[name] != null && !isText(context[name]));
  const roles =
    context.role == null || (Array.isArray(context.role) && context.role.length <= 50 && context.role.every(isText)) ? [] : ['role'];
  return [...ids, ...texts, ...roles];
}

/**
 * The context of a request's body; `ownUser` for a user token, which may name nobody else and only the attributes of its own. Attributes that
 * no flag knows are left out, as the protocol wants: SDKs send what they have.
 */
export function readOfrepContext(body: unknown, ownUser: string | null): OfrepContext | OfrepError {
  if (body !== undefined && body !== null && !isObject(body))
    return { errorCode: 'PARSE_ERROR', errorDetails: 'The body must be an object' };
  const context = (body as { context?: unknown } | null | undefined)?.context ?? {};
  if (!isObject(context)) return invalid('context must be an object');
  const wrong = wrongs(context);
  if (wrong.length) return invalid(`${wrong.join(', ')}: not of the right form`);
  const named = Object.keys(context).filter(name => KNOWN.includes(name) && context[name] != null);
  if (ownUser !== null) {
    const forbidden = named.filter(name => !OWN.includes(name));
    if (forbidden.length) return invalid(`${forbidden.join(', ')}: may be set by a service only`);
    if (context.targetingKey != null && (context.targetingKey as string).toLowerCase() !== ownUser)
      return invalid("targetingKey must be the token's own user");
  }
  const { targetingKey, brandId } = context as Record<string, string | undefined>;
  const attributes = Object.fromEntries(
    named.filter(name => name !== 'targetingKey' && name !== 'brandId').map(name => [name, context[name]]),
  );
  return { userId: targetingKey ?? null, brandId: brandId ?? null, attributes };
}
