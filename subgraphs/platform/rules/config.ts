import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { lazyPackage } from '../../../runtime/lazy.js';
import type { Violation } from '../../../runtime/request/errors.js';
import { secretViolations } from './secrets.js';

const MAX_SCHEMA_BYTES = 65_536;

const ajv2020 = lazyPackage<typeof import('ajv/dist/2020.js')>(import.meta.url, 'ajv/dist/2020.js');
const formats = lazyPackage<typeof import('ajv-formats')>(import.meta.url, 'ajv-formats');

const compile = (schema: object): ValidateFunction => {
  const ajv = new (ajv2020().Ajv2020)({ allErrors: true, strict: false, logger: false });
  formats().default(ajv);
  return ajv.compile(schema);
};

/** A schema's validator; compiled once for each schema object. */
const compiled = new WeakMap<object, ValidateFunction>();

function validatorOf(schema: object): ValidateFunction {
  let validator = compiled.get(schema);
  if (!validator) compiled.set(schema, (validator = compile(schema)));
  return validator;
}

/** What is wrong with a schema; references to other documents are not followed. */
export function schemaViolations(schema: unknown): Violation[] {
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema))
    return [{ pointer: '/schema', message: 'must be a JSON Schema object' }];
  if (JSON.stringify(schema).length > MAX_SCHEMA_BYTES)
    return [{ pointer: '/schema', message: `must have at most ${MAX_SCHEMA_BYTES} bytes` }];
  try {
    const validate = validatorOf(schema);
    if (!('default' in schema)) return [];
    return validate(schema.default) ? [] : [{ pointer: '/schema/default', message: 'does not fit the schema' }];
  } catch {
    return [{ pointer: '/schema', message: 'is not a JSON Schema 2020-12 that can be used' }];
  }
}

const pointerOf = ({ instancePath, params }: ErrorObject): string => {
  const name = (params.missingProperty ?? params.additionalProperty) as string | undefined;
  return name === undefined ? instancePath : `${instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
};

/** Where a value does not fit its schema or looks like a secret; pointers are relative to the value. Source: platform, rule 7. */
export function valueViolations(schema: object, value: unknown): Violation[] {
  const validate = validatorOf(schema);
  const misfits = validate(value)
    ? []
    : (validate.errors ?? []).map(error => ({ pointer: pointerOf(error), message: error.message ?? 'is not allowed' }));
  return [...misfits, ...secretViolations(value)];
}

/** What a key is for a brand. */
export interface Current {
  brandId: string | null;
  value: unknown;
  version: number;
}

/** The value in force: the brand's, else the global one, else the default of the schema, null for none. Source: platform 2. */
export function effective(
  schema: Readonly<Record<string, unknown>>,
  current: readonly Current[],
  brandId: string | null,
): { value: unknown; version: number | null; source: 'brand' | 'global' | 'default' } {
  const own = brandId === null ? undefined : current.find(one => one.brandId === brandId);
  const found = own ?? current.find(one => one.brandId === null);
  if (!found) return { value: schema.default ?? null, version: null, source: 'default' };
  return { value: found.value, version: found.version, source: own ? 'brand' : 'global' };
}
