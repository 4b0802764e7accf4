import { v7 } from 'uuid';

/** A new identifier: UUIDv7, so that ids sort by time. Source: conventions 3. */
export const newId = (): string => v7();

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a string can be looked up in a `uuid` column; anything else cannot exist. */
export const isUuid = (value: string): boolean => UUID.test(value);
