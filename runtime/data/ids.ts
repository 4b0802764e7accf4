export { newId } from '../../events/envelope.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a string can be looked up in a `uuid` column; anything else cannot exist. */
export const isUuid = (value: string): boolean => UUID.test(value);
