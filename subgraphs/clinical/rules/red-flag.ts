import jsonLogic from 'json-logic-js';
import type { TransitionTable } from '../../../runtime/request/states.js';
import { RedFlagStatus as Status } from '../entities/red-flag.js';

export type RedFlagTrigger = 'acknowledge' | 'resolve' | 'dismiss';

/** Red flag states. What is detected again after it was resolved or dismissed is a new flag. Source: clinical 3. */
export const RED_FLAG_STATES = {
  [Status.OPEN]: { acknowledge: Status.ACKNOWLEDGED, dismiss: Status.DISMISSED },
  [Status.ACKNOWLEDGED]: { resolve: Status.RESOLVED, dismiss: Status.DISMISSED },
  [Status.RESOLVED]: {},
  [Status.DISMISSED]: {},
} as const satisfies TransitionTable<Status, RedFlagTrigger>;

/** A rule raises no second flag beside one of these. */
export const STANDING_FLAGS = [Status.OPEN, Status.ACKNOWLEDGED] as const;

/** Whether a condition holds for coded inputs. Pure; what a condition names and the inputs lack is null. */
export const fires = (condition: object, inputs: object): boolean => jsonLogic.apply(condition as never, inputs) === true;

/** Names that a condition reads: `biomarkers.potassium.value`. */
const inputsOf = (condition: object): string[] => jsonLogic.uses_data(condition as never).map(String);

/** Markers that a condition is about. */
export const markersOf = (condition: object): string[] => [
  ...new Set(inputsOf(condition).flatMap(name => /^biomarkers\.([a-z0-9_]+)/.exec(name)?.[1] ?? [])),
];

/** Kinds of wearable samples that a condition is about. */
export const wearableKindsOf = (condition: object): string[] => [
  ...new Set(inputsOf(condition).flatMap(name => /^wearable\.([a-z0-9_]+)/.exec(name)?.[1] ?? [])),
];
