/** Copies of the checkout in which the services may be others. */
import { cpSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const PARTS = [
  'dist',
  'bench',
  'gateway/supergraph.graphql',
  'rest-adapter/openapi',
  'events/asyncapi',
  'subgraphs/comms/templates',
  'package.json',
];

/** A folder with what runs; the packages are this checkout's. */
export function copyOfCheckout() {
  const folder = mkdtempSync(join(tmpdir(), 'platform-copy-'));
  for (const part of PARTS) cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, '.data'), { recursive: true });
  return folder;
}
