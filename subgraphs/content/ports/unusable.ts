import { fail } from '../../../runtime/request/errors.js';

/** Refuses a file for what it is. @throws Problem invalid_request `unusable_file`. */
export const unusable = (detail: string, cause?: unknown): never => fail('invalid_request', detail, { reason: 'unusable_file', cause });
