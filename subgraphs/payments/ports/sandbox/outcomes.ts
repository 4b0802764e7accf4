import { declineCategory, RESOURCE_MISSING } from '../../rules/decline.js';
import type { ProcessorResult } from '../processor.js';

/** A call that is not done and will not be. */
export const declinedWith = <Data>(code: string, data: Data | null = null): ProcessorResult<Data> => ({
  status: 'declined',
  decline: { code, category: declineCategory(code) },
  data,
});

export const nothingThere = <Data>(): ProcessorResult<Data> => declinedWith<Data>(RESOURCE_MISSING);
