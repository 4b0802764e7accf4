/** HTML of an editor's clipboard -> the closed schema; what does not fit is left out and named. Source: content 4.4. */
import { Parser } from 'htmlparser2';
import { isLink, type Mark, type Node } from './rich-text.js';

const BLOCKS: Readonly<Record<string, { type: string; attrs?: Record<string, unknown> }>> = {
  p: { type: 'paragraph' },
  h1: { type: 'heading', attrs: { level: 2 } },
  h2: { type: 'heading', attrs: { level: 2 } },
  h3: { type: 'heading', attrs: { level: 3 } },
  h4: { type: 'heading', attrs: { level: 4 } },
  h5: { type: 'heading', attrs: { level: 4 } },
  h6: { type: 'heading', attrs: { level: 4 } },
  ul: { type: 'bulletList' },
  ol: { type: 'orderedList' },
  li: { type: 'listItem' },
  blockquote: { type: 'blockquote' },
  table: { type: 'table' },
  tr: { type: 'tableRow' },
  td: { type: 'tableCell' },
  th: { type: 'tableHeader' },
  pre: { type: 'codeBlock' },
  aside: { type: 'callout' },
};
const MARKS: Readonly<Record<string, string>> = {
  strong: 'strong',
  b: 'strong',
  em: 'em',
  i: 'em',
  u: 'underline',
  code: 'code',
  sub: 'sub',
  sup: 'sup',
};
/** Elements that only group others. */
const TRANSPARENT = new Set([
  'html',
  'body',
  'div',
  'section',
  'article',
  'span',
  'tbody',
  'thead',
  'tfoot',
  'main',
  'header',
  'footer',
  'figure',
  'figcaption',
]);
/** Elements of which not even the text is kept. */
const DROPPED = new Set([
  'script',
  'style',
  'iframe',
  'object',
  'embed',
  'template',
  'noscript',
  'svg',
  'math',
  'head',
  'title',
  'form',
  'select',
  'textarea',
]);
const HOLDS_INLINE = new Set(['paragraph', 'heading', 'codeBlock']);
const MEDIA = /\/content\/v1\/files\/by-id\/([0-9a-f-]{36})/i;
/** Deeper nesting is flattened. */
const MAX_OPEN = 18;

class Builder {
  readonly doc: Node = { type: 'doc', content: [] };
  readonly warnings = new Set<string>();
  readonly #open: Node[] = [this.doc];
  readonly #marks: (Mark | null)[] = [];
  #dropping = 0;

  open(name: string, attrs: Readonly<Record<string, string>>): void {
    if (DROPPED.has(name)) return void (this.#dropping++, this.warnings.add(`<${name}> was left out`));
    if (this.#dropping) return;
    for (const attr of Object.keys(attrs)) if (/^on/i.test(attr)) this.warnings.add(`${attr} was left out`);
    if (name === 'br') return this.#inline({ type: 'hardBreak' });
    if (name === 'img') return this.#image(attrs);
    if (name === 'a') return void this.#marks.push(this.#link(attrs.href));
    if (MARKS[name]) return void this.#marks.push({ type: MARKS[name]! });
    if (BLOCKS[name]) return this.#block(BLOCKS[name]!);
    if (!TRANSPARENT.has(name)) this.warnings.add(`<${name}> was left out`);
  }

  close(name: string): void {
    if (DROPPED.has(name)) return void (this.#dropping = Math.max(0, this.#dropping - 1));
    if (this.#dropping) return;
    if (name === 'a' || MARKS[name]) return void this.#marks.pop();
    const block = BLOCKS[name];
    const at = block ? this.#open.findLastIndex(one => one.type === block.type) : -1;
    if (at > 0) this.#open.length = at;
    else if (TRANSPARENT.has(name)) this.#leaveInline();
  }

  text(text: string): void {
    if (this.#dropping) return;
    const isCode = this.#top.type === 'codeBlock';
    const kept = isCode ? text : text.replace(/\s+/g, ' ');
    if (kept === '' || (!HOLDS_INLINE.has(this.#top.type) && kept.trim() === '')) return;
    const marks = isCode ? [] : this.#marks.filter(one => one !== null);
    this.#inline({ type: 'text', text: kept, ...(marks.length && { marks: [...marks] }) });
  }

  get #top(): Node {
    return this.#open.at(-1)!;
  }

  #leaveInline(): void {
    if (HOLDS_INLINE.has(this.#top.type)) this.#open.pop();
  }

  #add(node: Node): void {
    (this.#top.content ??= []).push(node);
  }

  #block({ type, attrs }: { type: string; attrs?: Record<string, unknown> }): void {
    this.#leaveInline();
    if (type === 'listItem' && !this.#top.type.endsWith('List')) this.#block({ type: 'bulletList' });
    if (type === 'tableRow' && this.#top.type !== 'table') return;
    if (/^table(Cell|Header)$/.test(type) && this.#top.type !== 'tableRow') return;
    if (this.#open.length >= MAX_OPEN) return;
    const node: Node = { type, ...(attrs && { attrs: { ...attrs } }) };
    if (/List$|^table$|^tableRow$/.test(this.#top.type) && !/^listItem$|^table/.test(type))
      this.#block({ type: this.#top.type === 'table' ? 'tableRow' : 'listItem' });
    this.#add(node);
    this.#open.push(node);
  }

  #inline(node: Node): void {
    if (!HOLDS_INLINE.has(this.#top.type)) this.#block({ type: 'paragraph' });
    if (HOLDS_INLINE.has(this.#top.type)) this.#add(node);
  }

  #link(href: string | undefined): Mark | null {
    if (isLink(href)) return { type: 'link', attrs: { href } };
    this.warnings.add('a link to an address that is not allowed was left out');
    return null;
  }

  #image({ src = '', alt }: Readonly<Record<string, string>>): void {
    const mediaId = MEDIA.exec(src)?.[1];
    if (!mediaId) return void this.warnings.add('a picture that is not in the library was left out');
    this.#leaveInline();
    if (/^(doc|listItem|blockquote|tableCell|tableHeader|callout)$/.test(this.#top.type))
      this.#add({ type: 'image', attrs: { mediaId, ...(alt && { alt: alt.slice(0, 500) }) } });
  }
}

/** A text from HTML, and what was left out. The result is valid by construction. */
export function richTextFromHtml(html: string): { json: Node; warnings: string[] } {
  const builder = new Builder();
  const parser = new Parser({
    onopentag: (name, attrs) => builder.open(name, attrs),
    onclosetag: name => builder.close(name),
    ontext: text => builder.text(text),
  });
  parser.end(html);
  return { json: trimmed(builder.doc), warnings: [...builder.warnings] };
}

/** Without white space at the ends of blocks, and without empty texts. */
function trimmed(node: Node): Node {
  if (!node.content) return node;
  const content = node.content.map(trimmed).map((one, index, all) => {
    if (one.type !== 'text' || node.type === 'codeBlock') return one;
    let text = one.text!;
    if (index === 0) text = text.trimStart();
    if (index === all.length - 1) text = text.trimEnd();
    return { ...one, text };
  });
  return { ...node, content: content.filter(one => one.type !== 'text' || one.text !== '') };
}
