/** One line of text: no control characters, no marks that turn the direction of writing. */
export const ONE_LINE = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$';
/** The same, and not blank. */
export const FILLED_LINE = '^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$';
/** Several lines of text: line feeds, but no other control characters and no marks that turn the direction of writing. */
export const LINES = '^(?:\\n|[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069])*$';
