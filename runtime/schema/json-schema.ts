import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formatsModule from 'ajv-formats';
import type { Violation } from '../request/errors.js';

const addFormats = formatsModule as unknown as (ajv: Ajv2020) => void;

const compiled = new WeakMap<object, ValidateFunction>();
const known = new Map<string, ValidateFunction>();

/** A schema that comes from a row is a new object each time; its text is not. Few schemas exist, so nothing is forgotten. */
function validatorOf(schema: object): ValidateFunction {
  const text = JSON.stringify(schema);
  let validate = compiled.get(schema) ?? known.get(text);
  if (!validate) {
    const ajv = new Ajv2020({ allErrors: true, strict: false });
    addFormats(ajv);
    known.set(text, (validate = ajv.compile(schema)));
  }
  compiled.set(schema, validate);
  return validate;
}

function violationOf({ instancePath, keyword, params, message }: ErrorObject, pointer: string): Violation {
  const extra = keyword === 'additionalProperties' ? (params as { additionalProperty: string }).additionalProperty : null;
  const missing = keyword === 'required' ? (params as { missingProperty: string }).missingProperty : null;
  const key = extra ?? missing;
  const text = extra !== null ? 'is not known' : missing !== null ? 'is required' : (message ?? 'is invalid');
  return { pointer: `${pointer}${instancePath}${key === null ? '' : `/${key}`}`, message: text };
}

/** Everything in which a value breaks a JSON Schema (2020-12), with pointers below `pointer`. */
export function schemaViolations(schema: object, value: unknown, pointer: string): Violation[] {
  const validate = validatorOf(schema);
  return validate(value) ? [] : (validate.errors ?? []).map(error => violationOf(error, pointer));
}
