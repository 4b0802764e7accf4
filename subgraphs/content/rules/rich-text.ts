/** The closed schema of rich texts: what is valid, and what is rendered from it. Source: content 2.1, rule 10. */
import type { Violation } from '../../../runtime/request/errors.js';
import type { RichText, RichTextHeading } from '../entities/item.js';
import type { ContentBodyFormat } from '../entities/enums.js';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, character => ENTITIES[character]!);

export interface Mark {
  type: string;
  attrs?: Record<string, unknown>;
}
export interface Node {
  type: string;
  attrs?: Record<string, unknown>;
  content?: Node[];
  marks?: Mark[];
  text?: string;
}

const BLOCKS = ['paragraph', 'heading', 'bulletList', 'orderedList', 'blockquote', 'table', 'codeBlock', 'image', 'callout', 'embed'];
const INLINE = ['text', 'hardBreak'];
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MAX_DEPTH = 20;
const MAX_CHARACTERS = 200_000;
const WORDS_PER_MINUTE = 220;

type Check = (value: unknown) => boolean;
const isId: Check = value => typeof value === 'string' && UUID.test(value);
const isText: Check = value => typeof value === 'string' && value.length <= 500;

/** `https`, `http`, `mailto`, `tel`, a path of the own site, or an item: `content:<id>`. */
export function isLink(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > 2048 || !/^[!-~\u00a1-\uffff]+$/.test(value)) return false;
  return /^(https?:\/\/[^/]|mailto:[^@]+@|tel:\+?[\d-]+$|\/(?!\/)|#|content:[0-9a-f-]{36}$)/i.test(value);
}

interface NodeRule {
  /** Types of what stands inside; absent: nothing. */
  content?: readonly string[];
  attrs?: Readonly<Record<string, Check>>;
  required?: readonly string[];
}

const NODES: Readonly<Record<string, NodeRule>> = {
  doc: { content: BLOCKS },
  paragraph: { content: INLINE },
  heading: { content: INLINE, attrs: { level: value => value === 2 || value === 3 || value === 4 }, required: ['level'] },
  bulletList: { content: ['listItem'] },
  orderedList: { content: ['listItem'], attrs: { start: value => Number.isInteger(value) && (value as number) >= 0 } },
  listItem: { content: BLOCKS },
  blockquote: { content: BLOCKS },
  table: { content: ['tableRow'] },
  tableRow: { content: ['tableCell', 'tableHeader'] },
  tableCell: { content: BLOCKS },
  tableHeader: { content: BLOCKS },
  codeBlock: { content: ['text'], attrs: { language: isText } },
  image: { attrs: { mediaId: isId, alt: isText, caption: isText }, required: ['mediaId'] },
  callout: { content: BLOCKS, attrs: { tone: value => ['info', 'warning', 'danger', 'success'].includes(value as string) } },
  embed: { attrs: { url: value => isLink(value) && /^https:/i.test(value as string) }, required: ['url'] },
  hardBreak: {},
  text: {},
};

const MARKS: Readonly<Record<string, NodeRule>> = {
  strong: {},
  em: {},
  underline: {},
  code: {},
  sub: {},
  sup: {},
  link: { attrs: { href: isLink }, required: ['href'] },
  citation: { attrs: { paperId: isId }, required: ['paperId'] },
};

function attrsViolations(rule: NodeRule, attrs: unknown, pointer: string): Violation[] {
  if (attrs !== undefined && (typeof attrs !== 'object' || attrs === null || Array.isArray(attrs)))
    return [{ pointer: `${pointer}/attrs`, message: 'must be an object' }];
  const given = (attrs ?? {}) as Record<string, unknown>;
  const wrong = Object.entries(given).flatMap(([name, value]) => {
    const check = Object.hasOwn(rule.attrs ?? {}, name) ? rule.attrs![name]! : null;
    if (!check) return [{ pointer: `${pointer}/attrs/${name}`, message: 'is unknown' }];
    return check(value) ? [] : [{ pointer: `${pointer}/attrs/${name}`, message: 'is not allowed' }];
  });
  const missing = (rule.required ?? []).filter(name => given[name] === undefined);
  return [...wrong, ...missing.map(name => ({ pointer: `${pointer}/attrs/${name}`, message: 'is required' }))];
}

const KEYS = ['type', 'attrs', 'content', 'marks', 'text'];

class Checker {
  readonly found: Violation[] = [];
  #characters = 0;

  node(value: unknown, allowed: readonly string[], pointer: string, depth: number): void {
    if (this.found.length >= 50) return;
    if (depth > MAX_DEPTH) return this.#say(pointer, `is deeper than ${MAX_DEPTH} levels`);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.#say(pointer, 'must be a node');
    const node = value as Node;
    if (typeof node.type !== 'string' || !Object.hasOwn(NODES, node.type) || !allowed.includes(node.type))
      return this.#say(`${pointer}/type`, 'is no node that may stand here');
    for (const key of Object.keys(node)) if (!KEYS.includes(key)) this.#say(`${pointer}/${key}`, 'is unknown');
    this.found.push(...attrsViolations(NODES[node.type]!, node.attrs, pointer));
    this.#text(node, pointer);
    this.#marks(node, pointer);
    this.#content(node, pointer, depth);
  }

  #say(pointer: string, message: string): void {
    this.found.push({ pointer, message });
  }

  #text(node: Node, pointer: string): void {
    if ((node.type === 'text') !== (typeof node.text === 'string')) return this.#say(`${pointer}/text`, 'is for texts only');
    this.#characters += node.text?.length ?? 0;
    if (this.#characters > MAX_CHARACTERS) this.#say(pointer, `has more than ${MAX_CHARACTERS} characters`);
  }

  #marks({ marks, type }: Node, pointer: string): void {
    if (marks === undefined) return;
    if (!Array.isArray(marks) || type !== 'text') return this.#say(`${pointer}/marks`, 'must be a list, of a text');
    marks.forEach((mark: unknown, index) => {
      const at = `${pointer}/marks/${index}`;
      const name = (mark as Mark | null)?.type;
      if (typeof name !== 'string' || !Object.hasOwn(MARKS, name)) return this.#say(`${at}/type`, 'is no mark');
      this.found.push(...attrsViolations(MARKS[name]!, (mark as Mark).attrs, at));
    });
  }

  #content({ content, type }: Node, pointer: string, depth: number): void {
    if (content === undefined) return;
    const allowed = NODES[type]!.content;
    if (!Array.isArray(content) || !allowed) return this.#say(`${pointer}/content`, 'must be a list of nodes');
    content.forEach((one, index) => this.node(one, allowed, `${pointer}/content/${index}`, depth + 1));
  }
}

/** What is wrong with a text; nothing for a valid one. */
export function richTextViolations(json: unknown, pointer: string): Violation[] {
  const checker = new Checker();
  checker.node(json, ['doc'], pointer, 0);
  return checker.found;
}

/** `how-to-read` of a heading's text; the second of its kind gets `-2`. */
function anchor(text: string, taken: Map<string, number>): string {
  const bare =
    text
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '') || 'section';
  const count = (taken.get(bare) ?? 0) + 1;
  taken.set(bare, count);
  return count === 1 ? bare : `${bare}-${count}`;
}

/** Where a file of ours is. */
export const mediaPath = (mediaId: string): string => `/content/v1/files/by-id/${mediaId}`;

/** Texts in their order, blocks apart. */
export function plainText(node: Node): string {
  if (node.type === 'text') return node.text ?? '';
  if (node.type === 'hardBreak') return '\n';
  const inner = (node.content ?? []).map(plainText).filter(Boolean);
  return ['paragraph', 'heading', 'codeBlock'].includes(node.type) ? inner.join('') : inner.join('\n');
}

const TAGS: Readonly<Record<string, string>> = {
  paragraph: 'p',
  bulletList: 'ul',
  listItem: 'li',
  blockquote: 'blockquote',
  tableRow: 'tr',
  tableCell: 'td',
  tableHeader: 'th',
  strong: 'strong',
  em: 'em',
  underline: 'u',
  code: 'code',
  sub: 'sub',
  sup: 'sup',
};

export interface RenderOptions {
  /** Base of addresses of our files. */
  mediaBase: string;
}

class Renderer {
  readonly toc: RichTextHeading[] = [];
  readonly #taken = new Map<string, number>();

  constructor(private readonly options: RenderOptions) {}

  render(node: Node): string {
    const inner = (): string => (node.content ?? []).map(one => this.render(one)).join('');
    switch (node.type) {
      case 'doc':
        return inner();
      case 'text':
        return (node.marks ?? []).reduceRight((html, mark) => this.#mark(mark, html), escapeHtml(node.text ?? ''));
      case 'hardBreak':
        return '<br>';
      case 'heading':
        return this.#heading(node, inner());
      case 'orderedList':
        return `<ol${node.attrs?.start === undefined ? '' : ` start="${Number(node.attrs.start)}"`}>${inner()}</ol>`;
      case 'table':
        return `<table><tbody>${inner()}</tbody></table>`;
      case 'codeBlock':
        return `<pre><code>${inner()}</code></pre>`;
      case 'callout':
        return `<aside class="callout callout-${escapeHtml(String(node.attrs?.tone ?? 'info'))}">${inner()}</aside>`;
      case 'image':
        return this.#image(node);
      case 'embed':
        return `<p><a href="${escapeHtml(String(node.attrs?.url))}" rel="nofollow noopener">${escapeHtml(String(node.attrs?.url))}</a></p>`;
      default:
        return `<${TAGS[node.type]!}>${inner()}</${TAGS[node.type]!}>`;
    }
  }

  #heading(node: Node, inner: string): string {
    const [level, text] = [Number(node.attrs?.level), plainText(node)];
    const id = anchor(text, this.#taken);
    this.toc.push({ level, id, text });
    return `<h${level} id="${id}">${inner}</h${level}>`;
  }

  #image({ attrs = {} }: Node): string {
    const src = `${this.options.mediaBase}${mediaPath(String(attrs.mediaId))}`;
    const image = `<img src="${escapeHtml(src)}" alt="${escapeHtml(String(attrs.alt ?? ''))}">`;
    return attrs.caption
      ? `<figure>${image}<figcaption>${escapeHtml(String(attrs.caption))}</figcaption></figure>`
      : `<figure>${image}</figure>`;
  }

  #mark({ type, attrs = {} }: Mark, html: string): string {
    if (type === 'link') {
      const href = String(attrs.href);
      return `<a href="${escapeHtml(href)}"${/^https?:/i.test(href) ? ' rel="nofollow noopener"' : ''}>${html}</a>`;
    }
    if (type === 'citation') return `<cite data-paper="${escapeHtml(String(attrs.paperId))}">${html}</cite>`;
    return `<${TAGS[type]!}>${html}</${TAGS[type]!}>`;
  }
}

const wordsIn = (text: string): number => text.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu)?.length ?? 0;

/** A stored text in the forms that were asked for. */
export function richTextOf(json: unknown, format: ContentBodyFormat, options: RenderOptions): RichText {
  const [node, renderer] = [json as Node, new Renderer(options)];
  const [html, text] = [renderer.render(node), plainText(node)];
  const shows = (one: ContentBodyFormat): boolean => format === 'ALL' || format === one;
  const wordCount = wordsIn(text);
  return {
    json: shows('JSON') ? json : null,
    html: shows('HTML') ? html : null,
    text: shows('TEXT') ? text : null,
    toc: renderer.toc,
    wordCount,
    readingMinutes: Math.max(1, Math.ceil(wordCount / WORDS_PER_MINUTE)),
  };
}

/** Headings of a text, for the search's third weight. */
export function headingsOf(node: Node): string[] {
  if (node.type === 'heading') return [plainText(node)];
  return (node.content ?? []).flatMap(headingsOf);
}

/** Ids of items that a text points at: pictures, papers and internal links. */
export function referencesIn(node: Node): string[] {
  const own = [node.attrs?.mediaId, ...(node.marks ?? []).flatMap(({ attrs }) => [attrs?.paperId, linkedItem(attrs?.href)])];
  return [...own.filter((one): one is string => typeof one === 'string'), ...(node.content ?? []).flatMap(referencesIn)];
}

/** The id in `content:<id>`. */
export const linkedItem = (href: unknown): string | undefined =>
  typeof href === 'string' ? /^content:([0-9a-f-]{36})$/i.exec(href)?.[1] : undefined;
