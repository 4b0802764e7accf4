import { expect, test } from 'vitest';
import { harmlessRepeats } from '../../runtime/request/operation.js';
import { twoPhasesOf } from '../../runtime/request/two-phase.js';
import { buildSubgraph } from '../../runtime/subgraph.js';
import { declarations } from './composition.js';

const mutations = declarations.flatMap(declaration => Object.keys(buildSubgraph(declaration).getMutationType()?.getFields() ?? {}));

/** A clause, not a stop-gap. */
const isReason = (repeat: string | undefined): boolean => repeat === undefined || /^\S+( \S+){3,}$/.test(repeat);

test('a mutation with its own transactions, which do not claim its Idempotency-Key, says why a repeat is harmless', () => {
  expect(mutations.filter(field => !isReason(harmlessRepeats().get(field)))).toEqual([]);
});

test('and is none in two phases, whose transactions are the runtime’s', () => {
  expect(mutations.filter(field => harmlessRepeats().has(field) && twoPhasesOf(field))).toEqual([]);
});

test.each([
  ['', false],
  ['harmless', false],
  ['the same password is set again', true],
])('%j as the reason: %s', (repeat, isAccepted) => {
  expect(isReason(repeat)).toBe(isAccepted);
});
