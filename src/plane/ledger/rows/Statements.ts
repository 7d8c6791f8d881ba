/** Statements of the shared rows of limits. Lists are one parameter for each column, however many rows there are. */
import type { Changed } from "./Books.ts"
import type { HolderRow, LeaseRow, Notified, SessionRow, WindowRef, WindowRow } from "./Rows.ts"
import type { RateLog } from "./RateLog.ts"

type List = ReadonlyArray<string | number>

export interface Statement {
  readonly text: string
  readonly parameters: ReadonlyArray<string | number | List>
}

const now = "CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT)"

export const join = `INSERT INTO limit_holders (id, node, turn, attempt, reported, expires_ms, is_expired)
  VALUES (?, ?, 0, 0, '[]', ${now} + ?, 0) ON CONFLICT (id) DO NOTHING`

const holderColumns = `id, node, turn, attempt, reported, expires_ms, is_expired, ${now} AS now_ms`

export const lockHolder = `SELECT ${holderColumns} FROM limit_holders WHERE id = ? FOR UPDATE`
export const lockLives = `SELECT ${holderColumns} FROM limit_holders WHERE id = ? OR node = ? ORDER BY id FOR UPDATE`
/** Another node may be at it. */
export const lockExpired = `SELECT ${holderColumns} FROM limit_holders WHERE id = ? AND is_expired = 0 AND expires_ms <= ${now}
  FOR UPDATE SKIP LOCKED`
export const expired = `SELECT id FROM limit_holders WHERE is_expired = 0 AND expires_ms <= ${now} ORDER BY expires_ms LIMIT 10`

export const holdersOf = `SELECT id, CASE WHEN is_expired = 1 THEN 0 ELSE expires_ms END AS expires_ms, ${now} AS now_ms
  FROM limit_holders WHERE node = ? ORDER BY id`

export const leasesOf = "SELECT holder, number, name, start_ms, granted, spent FROM limit_leases WHERE holder = ANY(?)"

const windowColumns =
  "w.name, w.start_ms, w.end_ms, w.rate_ms, w.size, w.version, w.warn_at, w.used, w.held, w.doubt, w.notified, w.wanted_ms, w.log"

/** Locked in one order by all. */
export const lockWindows = `SELECT ${windowColumns} FROM limit_windows AS w
  JOIN unnest(CAST(? AS TEXT[]), CAST(? AS BIGINT[])) AS n (name, start_ms) ON w.name = n.name AND w.start_ms = n.start_ms
  ORDER BY w.name, w.start_ms FOR UPDATE OF w`

export const standing = `SELECT w.name, w.start_ms, w.used, w.held + w.doubt AS reserved FROM limit_windows AS w
  JOIN unnest(CAST(? AS TEXT[]), CAST(? AS BIGINT[])) AS n (name, start_ms) ON w.name = n.name AND w.start_ms = n.start_ms`

export const makeWindows = `INSERT INTO limit_windows
    (name, start_ms, end_ms, rate_ms, size, version, warn_at, used, held, doubt, notified, wanted_ms, log)
  SELECT name, start_ms, end_ms, rate_ms, size, version, warn_at, used, 0, 0, notified, 0, '[]'
  FROM unnest(CAST(? AS TEXT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[]),
    CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[])) AS n (name, start_ms, end_ms, rate_ms, size, version, warn_at, used, notified)
  ORDER BY name, start_ms ON CONFLICT (name, start_ms) DO NOTHING`

export const sessionsOf = "SELECT api_key_id AS key, session, holder FROM limit_sessions WHERE api_key_id = ANY(?)"

export const wanted = `SELECT l.number, w.wanted_ms FROM limit_leases AS l
  JOIN limit_windows AS w ON w.name = l.name AND w.start_ms = l.start_ms
  WHERE l.holder = ? AND l.granted > l.spent AND w.wanted_ms > ${now} - 10000`

/** Rows that no report comes for any more. */
export const prune = `DELETE FROM limit_windows WHERE end_ms > 0 AND end_ms < ${now} - 3000000000 AND held = 0 AND doubt = 0`

interface FoundHolder extends Omit<HolderRow, "reported" | "isExpired"> {
  readonly reported: string
  readonly isExpired: number
  readonly nowMs: number
}

export const holderOf = ({ attempt, expiresMs, id, isExpired, node, reported, turn }: FoundHolder): HolderRow => ({
  id,
  node,
  turn,
  attempt,
  reported: JSON.parse(reported) as ReadonlyArray<string>,
  expiresMs,
  isExpired: isExpired === 1
})

export interface FoundWindow extends Omit<WindowRow, "log" | "notified"> {
  readonly log: string
  readonly notified: number
}

export const windowOf = ({ log, notified, ...row }: FoundWindow): WindowRow => ({
  ...row,
  notified: notified as Notified,
  log: JSON.parse(log) as RateLog
})

export type { FoundHolder, LeaseRow as FoundLease, SessionRow as FoundSession }

export const listOf = (refs: ReadonlyArray<Pick<WindowRef, "name" | "startMs">>): readonly [List, List] => [
  refs.map(({ name }) => name),
  refs.map(({ startMs }) => startMs)
]

export const newWindows = (refs: ReadonlyArray<WindowRef>): ReadonlyArray<List> => [
  ...listOf(refs),
  refs.map(({ endMs }) => endMs),
  refs.map(({ rateMs }) => rateMs),
  refs.map(({ size }) => size),
  refs.map(({ version }) => version),
  refs.map(({ warnAt }) => warnAt),
  refs.map(({ floor }) => floor),
  refs.map(({ notified }) => notified)
]

const updateWindows = (rows: ReadonlyArray<WindowRow>): Statement => ({
  text: `UPDATE limit_windows AS w SET size = n.size, version = n.version, warn_at = n.warn_at, used = n.used, held = n.held, doubt = n.doubt,
    notified = n.notified, wanted_ms = n.wanted_ms, log = n.log
  FROM unnest(CAST(? AS TEXT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[]),
    CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), CAST(? AS TEXT[]))
    AS n (name, start_ms, size, version, warn_at, used, held, doubt, notified, wanted_ms, log)
  WHERE w.name = n.name AND w.start_ms = n.start_ms`,
  parameters: [
    ...listOf(rows),
    rows.map(({ size }) => size),
    rows.map(({ version }) => version),
    rows.map(({ warnAt }) => warnAt),
    rows.map(({ used }) => used),
    rows.map(({ held }) => held),
    rows.map(({ doubt }) => doubt),
    rows.map(({ notified }) => notified),
    rows.map(({ wantedMs }) => wantedMs),
    rows.map(({ log }) => JSON.stringify(log))
  ]
})

const putLeases = (rows: ReadonlyArray<LeaseRow>): Statement => ({
  text: `INSERT INTO limit_leases (holder, number, name, start_ms, granted, spent)
  SELECT * FROM unnest(CAST(? AS TEXT[]), CAST(? AS BIGINT[]), CAST(? AS TEXT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[]))
  ON CONFLICT (holder, number) DO UPDATE SET granted = excluded.granted, spent = excluded.spent`,
  parameters: [
    rows.map(({ holder }) => holder),
    rows.map(({ number }) => number),
    ...listOf(rows),
    rows.map(({ granted }) => granted),
    rows.map(({ spent }) => spent)
  ]
})

const endLeases = (rows: ReadonlyArray<LeaseRow>): Statement => ({
  text: `DELETE FROM limit_leases AS l USING unnest(CAST(? AS TEXT[]), CAST(? AS BIGINT[])) AS n (holder, number)
  WHERE l.holder = n.holder AND l.number = n.number`,
  parameters: [rows.map(({ holder }) => holder), rows.map(({ number }) => number)]
})

const updateHolders = (rows: ReadonlyArray<HolderRow>): Statement => ({
  text: `UPDATE limit_holders AS h SET turn = n.turn, attempt = n.attempt, reported = n.reported, expires_ms = n.expires_ms, is_expired = n.is_expired
  FROM unnest(CAST(? AS TEXT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), CAST(? AS TEXT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[]))
    AS n (id, turn, attempt, reported, expires_ms, is_expired)
  WHERE h.id = n.id`,
  parameters: [
    rows.map(({ id }) => id),
    rows.map(({ turn }) => turn),
    rows.map(({ attempt }) => attempt),
    rows.map(({ reported }) => JSON.stringify(reported)),
    rows.map(({ expiresMs }) => expiresMs),
    rows.map(({ isExpired }) => (isExpired ? 1 : 0))
  ]
})

const endHolders = (ids: ReadonlyArray<string>): Statement => ({
  text: "DELETE FROM limit_holders WHERE id = ANY(?)",
  parameters: [ids]
})

const leave = (rows: ReadonlyArray<SessionRow>): Statement => ({
  text: `DELETE FROM limit_sessions AS s USING unnest(CAST(? AS TEXT[]), CAST(? AS TEXT[]), CAST(? AS TEXT[])) AS n (key, session, holder)
  WHERE s.holder = n.holder AND (n.key = '' OR (s.api_key_id = n.key AND s.session = n.session))`,
  parameters: [rows.map(({ key }) => key), rows.map(({ session }) => session), rows.map(({ holder }) => holder)]
})

const enter = (rows: ReadonlyArray<SessionRow>): Statement => ({
  text: `INSERT INTO limit_sessions (api_key_id, session, holder)
  SELECT DISTINCT * FROM unnest(CAST(? AS TEXT[]), CAST(? AS TEXT[]), CAST(? AS TEXT[])) ON CONFLICT DO NOTHING`,
  parameters: [rows.map(({ key }) => key), rows.map(({ session }) => session), rows.map(({ holder }) => holder)]
})

/** All changes as one statement; null: there are none. Windows and holders are locked before. */
export const write = (changed: Changed): Statement | null => {
  const { endedHolders, endedLeases, entered, holders, leases, windows } = changed
  // One row is not removed and made by one statement.
  const left = changed.left.filter(
    ({ holder, key, session }) =>
      !entered.some((each) => each.key === key && each.session === session && each.holder === holder)
  )
  const parts: ReadonlyArray<Statement | null> = [
    windows.length === 0 ? null : updateWindows(windows),
    leases.length === 0 ? null : putLeases(leases),
    endedLeases.length === 0 ? null : endLeases(endedLeases),
    holders.length === 0 ? null : updateHolders(holders),
    endedHolders.length === 0 ? null : endHolders(endedHolders),
    left.length === 0 ? null : leave(left),
    entered.length === 0 ? null : enter(entered)
  ]
  const all = parts.filter((part) => part !== null)
  const last = all.at(-1)
  if (last === undefined) return null
  const before = all.slice(0, -1).map(({ text }, at) => `p${at} AS (${text})`)
  return {
    text: before.length === 0 ? last.text : `WITH ${before.join(",\n")}\n${last.text}`,
    parameters: all.flatMap(({ parameters }) => parameters)
  }
}
