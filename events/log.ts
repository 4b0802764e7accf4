/** The part of pino that the machinery uses. Never given payloads. */
export interface EventLog {
  debug(detail: object, message: string): void;
  info(detail: object, message: string): void;
  warn(detail: object, message: string): void;
  error(detail: object, message: string): void;
}

/** Name and SQLSTATE or system code of an error: enough to find the cause, nothing of its values. */
export const errorOf = (error: unknown): { name: string; code?: string } => {
  const { name = 'Error', code } = (error ?? {}) as { name?: string; code?: string };
  return code === undefined ? { name } : { name, code: String(code) };
};
