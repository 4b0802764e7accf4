import { biomarkerAdded } from '../../../events/catalogue/clinical.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid, type Violation } from '../../../runtime/request/errors.js';
import type { Biomarker } from '../entities/biomarker.js';
import {
  BiomarkerObservation,
  BiomarkerObservationStatus as Status,
  BiomarkerObservationVerification as Verification,
} from '../entities/observation.js';
import { findMarkers, markerOf } from '../queries/dictionary.js';
import { requireNotErased } from '../queries/patient.js';
import { type Demographics, subjectAt } from '../rules/demographics.js';
import { judged, type Reported, sameResult, sameValue, succeeds, verificationOf, violationsOf } from '../rules/observation.js';
import { limitBeyond, type RangeSubject } from '../rules/ranges.js';
import { raiseAlert } from './critical-alert.js';
import { scoreLater } from './health-score.js';
import { type Measurement, replace, sameMeasurement, succeeded } from './observation-succession.js';
import { detectInResults } from './red-flag.js';

/** A result to be stored: as reported, with the marker's name and the pointer of its row. */
export interface Incoming extends Reported {
  /** Dictionary code or LOINC. */
  name: string;
  method: string | null;
  sourceRef: string | null;
  /** JSON pointer of the row in the input. */
  at: string;
  reportId?: string | null;
  /** A person has checked what a machine read. */
  verified?: boolean;
  /** The row that this one corrects; it has been superseded already. */
  supersedes?: BiomarkerObservation;
}

/** A result that comes in, with what is stored of it. */
interface Meeting {
  of: Measurement;
  row: Incoming;
  rivals: readonly BiomarkerObservation[];
  /** Those of them that it replaces. */
  replaced: readonly BiomarkerObservation[];
}

/** What is known of the patient at the time of a result. */
const subjectOf = (row: Pick<Incoming, 'performer' | 'collectedAt'>, demographics: Demographics | null): RangeSubject => ({
  performer: row.performer,
  ...subjectAt(demographics, row.collectedAt),
});

/** What is stored already and may be the same result: by source reference, or by draw. */
async function storedLike(ctx: Context, patientId: string, rows: readonly Incoming[]): Promise<BiomarkerObservation[]> {
  const refs = rows.flatMap(({ source, sourceRef }) => (sourceRef === null ? [] : [{ source, sourceRef }]));
  const draws = rows.flatMap(({ drawId }) => drawId ?? []);
  if (refs.length + draws.length === 0) return [];
  return ctx.em.find(
    BiomarkerObservation,
    { $or: [...refs, { patientId, drawId: { $in: draws }, supersededBy: null }] },
    { orderBy: { receivedAt: 'asc', id: 'asc' } },
  );
}

const sameAs = (ctx: Context, stored: BiomarkerObservation, of: Measurement, row: Incoming): boolean =>
  sameMeasurement(stored, of) &&
  stored.status === row.status &&
  stored.collectedAt.getTime() === row.collectedAt.getTime() &&
  sameResult(stored.open(ctx), row);

/** A person's or a laboratory's result counts as verified; what a machine has read does not. */
const verifiedBy = ({ verified, source }: Incoming): Verification =>
  verified === undefined ? verificationOf(source) : verified ? Verification.VERIFIED : Verification.UNVERIFIED;

function build(
  ctx: Context,
  id: string,
  { of: { patientId }, row, replaced }: Meeting,
  entry: Biomarker,
  demographics: Demographics | null,
): BiomarkerObservation {
  const subject = subjectOf(row, demographics);
  const { canonical, sealed } = judged(markerOf(entry), row, subject);
  const { source, sourceRef, performer, method, status, collectedAt, drawId } = row;
  const stored = Object.assign(new BiomarkerObservation(), {
    id,
    patientId,
    biomarkerId: entry.id,
    code: entry.code,
    canonicalAmount: canonical,
    collectedAt,
    receivedAt: ctx.now(),
    drawId,
    source,
    sourceRef,
    performer,
    method,
    status,
    verification: verifiedBy(row),
    reportId: row.reportId ?? null,
    supersedes: (row.supersedes ?? replaced.at(-1))?.id ?? null,
  });
  stored.seal(ctx, sealed);
  if (canonical !== null)
    raiseAlert(ctx, stored, limitBeyond(markerOf(entry).ranges, subject, { value: canonical, comparator: row.comparator }));
  return stored;
}

function announce(ctx: Context, { id, code, source, collectedAt, drawId, patientId }: BiomarkerObservation): void {
  const data = { observation_id: id, code, source, collected_at: collectedAt.toISOString(), draw_id: drawId };
  ctx.emit(biomarkerAdded, data, { userId: patientId });
}

/** Rows that were sent under a result's reference. */
const underRef = (known: readonly BiomarkerObservation[], { source, sourceRef }: Incoming): BiomarkerObservation[] =>
  sourceRef === null ? [] : known.filter(one => one.source === source && one.sourceRef === sourceRef);

/** What stands of the same measurement as a result; without a draw, under its reference. */
function rivalsOf(known: readonly BiomarkerObservation[], of: Measurement, row: Incoming): BiomarkerObservation[] {
  const among = row.drawId === null ? underRef(known, row) : known;
  return among.filter(one => sameMeasurement(one, of) && one.status !== Status.ENTERED_IN_ERROR && one.supersededBy === null);
}

/** A preliminary result that comes after the final one adds nothing any more. */
const isLate = (stored: BiomarkerObservation, row: Incoming): boolean =>
  row.status === Status.PRELIMINARY && stored.status !== Status.PRELIMINARY;

/** Whether a stored row of the same measurement has the value already, and what comes in does not replace it. */
const isCoveredBy = (ctx: Context, stored: BiomarkerObservation, row: Incoming): boolean =>
  stored.source === row.source &&
  (stored.status === row.status || !succeeds(row.status, stored.status)) &&
  sameValue(stored.open(ctx), row);

function meet(known: readonly BiomarkerObservation[], patientId: string, code: string, row: Incoming): Meeting {
  const of = { patientId, code, drawId: row.drawId, performer: row.performer };
  const rivals = rivalsOf(known, of, row);
  return { of, row, rivals, replaced: row.supersedes ? [] : rivals.filter(one => succeeds(row.status, one.status)) };
}

/**
 * The stored row that a result repeats, undefined for a new one. A reference may come again for what replaces the same
 * measurement; with any other content it is a violation.
 */
function repeated(
  ctx: Context,
  known: readonly BiomarkerObservation[],
  { of, row, rivals, replaced }: Meeting,
  taken: Violation[],
): BiomarkerObservation | undefined {
  const byRef = underRef(known, row);
  const same = byRef.find(one => sameAs(ctx, one, of, row));
  if (same) return same;
  if (byRef.length === 0) return rivals.find(one => isLate(one, row) || isCoveredBy(ctx, one, row));
  const late = rivals.find(one => isLate(one, row));
  if (byRef.every(one => sameMeasurement(one, of)) && (late || replaced.length)) return late;
  taken.push({ pointer: `${row.at}/sourceRef`, message: 'was used for another result' });
  return byRef[0];
}

/** Two results of one draw by one laboratory that differ: both wait for a person, and neither closes a cycle. Source: clinical 7.3.3. */
function markConflict({ row, rivals, replaced }: Meeting, fresh: BiomarkerObservation): void {
  if (row.drawId === null || row.supersedes) return;
  for (const one of rivals) if (!replaced.includes(one)) one.needsReview = fresh.needsReview = true;
}

/** Stores a new result instead of those that it replaces, and announces it. */
async function storeFresh(
  ctx: Context,
  meeting: Meeting,
  entry: Biomarker,
  demographics: Demographics | null,
): Promise<BiomarkerObservation> {
  const id = newId();
  await replace(ctx, meeting.replaced, id);
  const fresh = build(ctx, id, meeting, entry, demographics);
  markConflict(meeting, fresh);
  ctx.em.persist(fresh);
  announce(ctx, fresh);
  return fresh;
}

function requireJudgeable(ctx: Context, rows: readonly Incoming[], markers: ReadonlyMap<string, Biomarker>): void {
  const errors = rows.flatMap((row): Violation[] => {
    const entry = markers.get(row.name);
    if (!entry) return [{ pointer: `${row.at}/code`, message: 'is not in the dictionary' }];
    return [...violationsOf(markerOf(entry), row, ctx.now(), row.at)];
  });
  requireValid(errors);
}

/** What became of a list of results, while it is stored. */
interface Storing {
  /** One row per result, in their order. */
  stored: BiomarkerObservation[];
  /** The new ones, with what each replaces. */
  fresh: { row: BiomarkerObservation; replaced: readonly BiomarkerObservation[] }[];
  /** References that were used for other results. */
  taken: Violation[];
}

async function storeEach(
  ctx: Context,
  patientId: string,
  rows: readonly Incoming[],
  markers: ReadonlyMap<string, Biomarker>,
  demographics: Demographics | null,
): Promise<Storing> {
  const known = await storedLike(ctx, patientId, rows);
  const storing: Storing = { stored: [], fresh: [], taken: [] };
  for (const row of rows) {
    const entry = markers.get(row.name)!;
    const meeting = meet(known, patientId, entry.code, row);
    const before = repeated(ctx, known, meeting, storing.taken);
    const stored = before ?? (await storeFresh(ctx, meeting, entry, demographics));
    storing.stored.push(stored);
    if (before) continue;
    known.push(stored);
    storing.fresh.push({ row: stored, replaced: meeting.replaced });
  }
  return storing;
}

/**
 * Stores results of one patient, all or none, and announces each new one; a repetition gives the stored row. The patient must be
 * locked. @throws Problem invalid_request listing every row, conflict for a source reference with other content, not_found for an erased account.
 */
export async function storeResults(
  ctx: Context,
  patientId: string,
  rows: readonly Incoming[],
  demographics: Demographics | null,
): Promise<BiomarkerObservation[]> {
  await requireNotErased(ctx, patientId);
  const names = rows.map(row => row.name);
  const markers = await findMarkers(ctx, names);
  requireJudgeable(ctx, rows, markers);
  const { stored, fresh, taken } = await storeEach(ctx, patientId, rows, markers, demographics);
  if (taken.length) fail('conflict', 'A source reference was used for another result', { reason: 'source_ref_taken', errors: taken });
  for (const { row, replaced } of fresh) await succeeded(ctx, replaced, row);
  const added = fresh.map(one => one.row);
  await detectInResults(ctx, patientId, added);
  if (added.length) await scoreLater(ctx, patientId);
  return stored;
}
