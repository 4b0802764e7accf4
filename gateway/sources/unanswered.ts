const LOST = new Set<unknown>(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** Whether an error is that of a connection which was lost. Those of one that could not be made are others. */
export const isLost = (error: Error): boolean => LOST.has((error as NodeJS.ErrnoException).code);

/** The connection was lost before any part of the answer came: a query may be sent again. */
export class Unanswered extends Error {
  /** @param isOurs whether this process ended the connection, for another request's sake: others to the service are whole. */
  constructor(
    cause: Error,
    readonly isOurs = false,
  ) {
    super(cause.message, { cause });
  }
}
