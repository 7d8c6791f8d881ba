/**
 * Tracks which members of a fusion panel are still awaited, and until when. Pure: takes events, returns points in time.
 */
import type { ComboPolicy } from "../../../subjects/combos/entity/ComboPolicy.ts"

export interface PanelRules {
  /** Answers after which the others get only the grace time; never more than the panel has members. */
  readonly minPanel: number
  readonly stragglerGraceMs: number
  /** No member is waited for longer than this. */
  readonly panelHardTimeoutMs: number
}

/** Reads the rules of the combo, for a panel of `size` (at least 2). */
export const panelRules = ({ fusionTuning }: Pick<ComboPolicy, "fusionTuning">, size: number): PanelRules => ({
  ...fusionTuning,
  minPanel: Math.min(Math.max(Math.floor(fusionTuning.minPanel), 2), size)
})

/** Times are milliseconds of one clock. */
export interface Panel {
  readonly size: number
  readonly openedMs: number
  /** Members that are through, with or without an answer. */
  readonly ended: number
  readonly answers: number
  /** Time at which `minPanel` answers were in; null before. */
  readonly quorumMs: number | null
}

export const openPanel = (size: number, nowMs: number): Panel => ({
  size,
  openedMs: nowMs,
  ended: 0,
  answers: 0,
  quorumMs: null
})

export const memberEnded = (panel: Panel, rules: PanelRules, hasAnswer: boolean, nowMs: number): Panel => {
  const answers = panel.answers + (hasAnswer ? 1 : 0)
  return {
    ...panel,
    ended: panel.ended + 1,
    answers,
    quorumMs: panel.quorumMs ?? (answers >= rules.minPanel ? nowMs : null)
  }
}

/** Computes the time at which the members that are not through yet are cut off. */
export const closesAtMs = ({ ended, openedMs, quorumMs, size }: Panel, rules: PanelRules): number => {
  if (ended >= size) return Number.NEGATIVE_INFINITY
  const latestMs = openedMs + rules.panelHardTimeoutMs
  return quorumMs === null ? latestMs : Math.min(latestMs, quorumMs + rules.stragglerGraceMs)
}
