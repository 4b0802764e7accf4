import type { Violation } from '../../../runtime/request/errors.js';

/** Source: jobs 2. */
const MAX_PAYLOAD_BYTES = 65_536;

/** Keys that ids, codes and settings never have: contact data, secrets, health values. The lint of events. */
const FORBIDDEN =
  /^(e_?mail|phone(_number)?|mobile|address|street|line1|line2|city|postal_code|first_name|last_name|full_name|display_name|dob|birth_?date|password|secret|client_secret|token|access_token|refresh_token|authorization|api_key|private_key|value|value_num|result_value|raw_value|body|text|note|notes|message)$/i;

/** Where a payload holds a key that none may hold. */
function forbiddenKeys(payload: unknown, pointer: string): Violation[] {
  if (payload === null || typeof payload !== 'object') return [];
  return Object.entries(payload).flatMap(([key, value]) => [
    ...(!Array.isArray(payload) && FORBIDDEN.test(key)
      ? [{ pointer: `${pointer}/${key}`, message: 'is not an id, a code or a setting' }]
      : []),
    ...forbiddenKeys(value, `${pointer}/${key}`),
  ]);
}

/** What a payload breaks whatever its queue. */
export function payloadViolations(payload: unknown, pointer: string): Violation[] {
  if (payload === null || typeof payload !== 'object' || Array.isArray(payload)) return [{ pointer, message: 'must be an object' }];
  if (Buffer.byteLength(JSON.stringify(payload)) > MAX_PAYLOAD_BYTES)
    return [{ pointer, message: `must have at most ${MAX_PAYLOAD_BYTES} bytes` }];
  return forbiddenKeys(payload, pointer);
}
