import { Problem } from '../../../runtime/request/errors.js';
import { ask, question } from './ask.js';
import type { StepContext } from './workflow.js';

const VISITS = question(
  'booking',
  `query WorkflowVisits($userId: ID!, $from: DateTime!, $to: DateTime!) { result: bookingVisits(filter: { userId: $userId, from: $from, to: $to }) { nodes { id status } } }`,
);

/** Visits that were called off, or that the member did not come to, are none. */
const NONE = ['CANCELLED', 'NO_SHOW'];

/** Whether the member has, or had, a visit in the time; null while there is no booking service to ask. */
export async function hasVisit(step: StepContext, from: Date, to: Date): Promise<{ booked: boolean | null }> {
  try {
    const times = { from: from.toISOString(), to: to.toISOString() };
    const { result } = await ask<{ result: { nodes: { status: string }[] } }>(step, VISITS, { userId: step.userId, ...times });
    return { booked: result.nodes.some(visit => !NONE.includes(visit.status)) };
  } catch (error) {
    if (error instanceof Problem && error.options.reason === 'booking_not_available') return { booked: null };
    throw error;
  }
}
