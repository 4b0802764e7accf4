/** Text that is HTML already. Everything else is escaped. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | null | undefined | false | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escape = (text: string): string => text.replace(/[&<>"']/g, character => ENTITIES[character]!);

function render(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  return Array.isArray(part) ? part.map(render).join('') : escape(String(part));
}

/** HTML whose interpolated texts are escaped; null, undefined and false are nothing, lists are joined. */
export const html = (texts: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(texts.reduce((text, next, index) => text + render(parts[index - 1]) + next));

interface Field {
  label: string;
  id: string;
  invalid?: boolean;
  [attribute: string]: string | boolean | undefined;
}

const attribute = ([name, value]: [string, string | boolean | undefined]): string =>
  typeof value === 'string' ? ` ${name}="${escape(value)}"` : value ? ` ${name}` : '';

/** A labelled field of a form, required; true attributes stand alone. Its id is its name unless another one is given. */
export const field = ({ label, id, invalid = false, ...others }: Field): Html => {
  const attributes = { id, name: id, required: true, ...others, ...(invalid && { 'aria-invalid': 'true' }) };
  return html`<label for="${id}">${label}</label> ${new Html(`<input${Object.entries(attributes).map(attribute).join('')} />`)}`;
};
