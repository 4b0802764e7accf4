const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** Patterns for `like`: what begins with a text, what holds it. */
export const beginning = (text: string): string => `${escaped(text)}%`;
export const holding = (text: string): string => `%${escaped(text)}%`;
