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
