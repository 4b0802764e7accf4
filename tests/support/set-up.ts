import { afterAll } from 'vitest';
import { runEnds } from './at-end.js';

afterAll(runEnds);
