import { biomarkerAdded } from '../../../events/catalogue/clinical.js';
import type { Context } from '../../../runtime/context.js';
import { fail, type Violation } from '../../../runtime/errors.js';
import type { Biomarker } from '../entities/biomarker.js';
import {
  BiomarkerObservation,
  BiomarkerObservationStatus as Status,
  BiomarkerObservationVerification as Verification,
  sealContext,
} from '../entities/observation.js';
import type { Demographics } from '../rules/demographics.js';
import { judged, sameResult, verificationOf, violationsOf, type Reported } from '../rules/observation.js';
import { limitBeyond, type RangeSubject } from '../rules/ranges.js';
import { raiseAlert } from './critical-alert.js';
import { findMarkers, markerOf } from './dictionary.js';
import { scoreLater } from './health-score-due.js';
import { detectInResults } from './red-flag-detect.js';
import { subjectAt } from '../rules/demographics.js';

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

/** What the patient's demographics say about a result, as far as they are known. */
export const subjectOf = (row: Pick<Incoming, 'performer' | 'collectedAt'>, demographics: Demographics | null): RangeSubject => ({
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

const sameAs = (ctx: Context, stored: BiomarkerObservation, patientId: string, code: string, row: Incoming): boolean =>
  stored.patientId === patientId &&
  stored.code === code &&
  stored.drawId === row.drawId &&
  stored.performer === row.performer &&
  stored.status === row.status &&
  stored.collectedAt.getTime() === row.collectedAt.getTime() &&
  sameResult(stored.open(ctx), row);

/** A person's word or a laboratory's counts as verified; what a machine has read does not. */
const verifiedBy = ({ verified, source }: Incoming): Verification =>
  verified === undefined ? verificationOf(source) : verified ? Verification.VERIFIED : Verification.UNVERIFIED;

function build(ctx: Context, patientId: string, entry: Biomarker, row: Incoming, demographics: Demographics | null): BiomarkerObservation {
  const subject = subjectOf(row, demographics);
  const { canonical, sealed } = judged(markerOf(entry), row, subject);
  const { source, sourceRef, performer, method, status, collectedAt, drawId } = row;
  const stored = new BiomarkerObservation();
  Object.assign(stored, {
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
    supersedes: row.supersedes?.id ?? null,
    resultSealed: ctx.host.sealer.seal(JSON.stringify(sealed), sealContext(stored.id)),
  });
  if (canonical !== null)
    raiseAlert(ctx, stored, limitBeyond(markerOf(entry).ranges, subject, { value: canonical, comparator: row.comparator }));
  return stored;
}

function announce(ctx: Context, { id, code, source, collectedAt, drawId, patientId }: BiomarkerObservation): void {
  ctx.emit(
    biomarkerAdded,
    { observation_id: id, code, source, collected_at: collectedAt.toISOString(), draw_id: drawId },
    { userId: patientId },
  );
}

/** The stored row that a result repeats, undefined for a new one; a reused reference with other content is a violation. */
function repeated(
  ctx: Context,
  known: readonly BiomarkerObservation[],
  patientId: string,
  code: string,
  row: Incoming,
  taken: Violation[],
): BiomarkerObservation | undefined {
  const byRef = row.sourceRef === null ? undefined : known.find(one => one.source === row.source && one.sourceRef === row.sourceRef);
  if (byRef && !sameAs(ctx, byRef, patientId, code, row))
    taken.push({ pointer: `${row.at}/sourceRef`, message: 'was used for another result' });
  return (
    byRef ?? (row.drawId === null ? undefined : known.find(one => one.source === row.source && sameAs(ctx, one, patientId, code, row)))
  );
}

/** Two results of one draw by one laboratory that differ: both wait for a person, and neither closes a cycle. Source: clinical 7.3.3. */
function markConflict(known: readonly BiomarkerObservation[], fresh: BiomarkerObservation): void {
  if (fresh.drawId === null) return;
  const rivals = known.filter(
    one =>
      one.code === fresh.code &&
      one.drawId === fresh.drawId &&
      one.performer === fresh.performer &&
      one.patientId === fresh.patientId &&
      one.status !== Status.ENTERED_IN_ERROR &&
      one.supersededBy === null,
  );
  for (const one of rivals) one.needsReview = fresh.needsReview = true;
}

function checked(ctx: Context, rows: readonly Incoming[], markers: ReadonlyMap<string, Biomarker>): void {
  const errors = rows.flatMap((row): Violation[] => {
    const entry = markers.get(row.name);
    return entry
      ? [...violationsOf(markerOf(entry), row, ctx.now(), row.at)]
      : [{ pointer: `${row.at}/code`, message: 'is not in the dictionary' }];
  });
  if (errors.length) fail('invalid_request', 'The input is invalid', { errors });
}

/**
 * Stores results of one patient, all or none, and tells of each new one; a repetition gives the stored row. The patient must be
 * locked. @throws Problem invalid_request listing every row, conflict for a source reference with other content.
 */
export async function storeResults(
  ctx: Context,
  patientId: string,
  rows: readonly Incoming[],
  demographics: Demographics | null,
): Promise<BiomarkerObservation[]> {
  const markers = await findMarkers(
    ctx,
    rows.map(row => row.name),
  );
  checked(ctx, rows, markers);
  const known = await storedLike(ctx, patientId, rows);
  const taken: Violation[] = [];
  const added: BiomarkerObservation[] = [];
  const stored = rows.map(row => {
    const entry = markers.get(row.name)!;
    const before = repeated(ctx, known, patientId, entry.code, row, taken);
    if (before) return before;
    const fresh = build(ctx, patientId, entry, row, demographics);
    if (!row.supersedes) markConflict(known, fresh);
    known.push(fresh);
    added.push(fresh);
    ctx.em.persist(fresh);
    announce(ctx, fresh);
    return fresh;
  });
  if (taken.length) fail('conflict', 'A source reference was used for another result', { reason: 'source_ref_taken', errors: taken });
  await detectInResults(ctx, patientId, added);
  if (added.length) await scoreLater(ctx, patientId);
  return stored;
}
