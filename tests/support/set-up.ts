import { afterAll } from 'vitest';
import { runEnds } from './at-end.js';
import { beginFile, endFile } from './times.js';

beginFile();
afterAll(endFile); // hooks run in reverse order: this one is the last
afterAll(runEnds);
