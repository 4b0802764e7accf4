import { createRequire } from 'node:module';

/** What an invoice or credit note says; everything is text already. */
export interface BillingDocument {
  title: string;
  /** Legal name of the brand. */
  seller: string;
  issuedAt: Date;
  /** Number, dates and what it refers to. */
  facts: readonly (readonly [label: string, text: string])[];
  lines: readonly { description: string; quantity: string; amount: string }[];
  /** From the subtotal to what is due; the last one stands out. */
  sums: readonly (readonly [label: string, amount: string])[];
  /** What it was paid by, one a line. */
  payments: readonly string[];
}

const { resolve } = createRequire(import.meta.url);
/** Covers Latin, Greek, Cyrillic and more; the standard fonts of PDF end with Latin-1. */
const REGULAR = resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf');
const BOLD = resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf');

/** Points: A4 is 595 × 842. */
const MARGIN = 56;
const WIDTH = 595 - 2 * MARGIN;
const BOTTOM = 842 - MARGIN;
const [QUANTITY_WIDTH, AMOUNT_WIDTH, GAP] = [50, 130, 6];
const TEXT_WIDTH = WIDTH - QUANTITY_WIDTH - AMOUNT_WIDTH;

/** Begins another page where `height` points are not left. */
function makeRoom(pdf: PDFKit.PDFDocument, height: number): void {
  if (pdf.y + height > BOTTOM) pdf.addPage();
}

/** A row of three columns, as high as its text needs. */
function row(pdf: PDFKit.PDFDocument, [text, quantity, amount]: readonly [string, string, string], font = REGULAR): void {
  pdf.font(font).fontSize(10);
  const height = pdf.heightOfString(text || ' ', { width: TEXT_WIDTH - GAP });
  makeRoom(pdf, height + GAP);
  const { y } = pdf;
  pdf.text(text, MARGIN, y, { width: TEXT_WIDTH - GAP });
  pdf.text(quantity, MARGIN + TEXT_WIDTH, y, { width: QUANTITY_WIDTH, align: 'right' });
  pdf.text(amount, MARGIN + TEXT_WIDTH + QUANTITY_WIDTH, y, { width: AMOUNT_WIDTH, align: 'right' });
  pdf.y = y + height + GAP;
}

function rule(pdf: PDFKit.PDFDocument): void {
  pdf
    .moveTo(MARGIN, pdf.y)
    .lineTo(MARGIN + WIDTH, pdf.y)
    .lineWidth(0.5)
    .stroke();
  pdf.y += GAP;
}

function head(pdf: PDFKit.PDFDocument, { title, seller, facts }: BillingDocument): void {
  pdf.font(BOLD).fontSize(20).text(title, MARGIN, MARGIN);
  pdf
    .font(REGULAR)
    .fontSize(12)
    .text(seller, { paragraphGap: 2 * GAP });
  pdf.fontSize(10);
  for (const [label, text] of facts) pdf.text(`${label}: ${text}`);
  pdf.moveDown();
}

function body(pdf: PDFKit.PDFDocument, { lines, sums, payments }: BillingDocument): void {
  row(pdf, ['Description', 'Quantity', 'Amount'], BOLD);
  rule(pdf);
  for (const { description, quantity, amount } of lines) row(pdf, [description, quantity, amount]);
  rule(pdf);
  sums.forEach(([label, amount], index) => row(pdf, [label, '', amount], index === sums.length - 1 ? BOLD : REGULAR));
  for (const text of payments) row(pdf, [text, '', '']);
}

/** The document as PDF. The same document gives the same pages. */
export async function renderDocument(document: BillingDocument): Promise<Buffer> {
  const info = { Title: `${document.title} ${document.facts[0]?.[1] ?? ''}`, Author: document.seller, CreationDate: document.issuedAt };
  const { default: PDFDocument } = await import('pdfkit');
  const pdf = new PDFDocument({ size: 'A4', margin: MARGIN, font: REGULAR, lang: 'en', info });
  const chunks: Buffer[] = [];
  pdf.on('data', (chunk: Buffer) => void chunks.push(chunk));
  const ended = new Promise<void>((done, failed) => pdf.on('end', done).on('error', failed));
  head(pdf, document);
  body(pdf, document);
  pdf.end();
  await ended;
  return Buffer.concat(chunks);
}
